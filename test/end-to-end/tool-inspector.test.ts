// The official Inspector's command line, as people try a server with it. It needs Node 22.19, and CI installs it beside Node 24.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { subscriber } from '../fixtures/agents/subscriber.ts';
import { toolClient } from '../fixtures/agents/tool-client.ts';
import { createRig } from '../fixtures/service/rig.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const TIMEOUT_MS = 60_000;
const PACKAGE = '@modelcontextprotocol/inspector';

/** The Inspector that is installed beside Node. */
function findInspector(): string | undefined {
  const { resolve } = createRequire(process.execPath);
  try {
    return join(dirname(resolve(`${PACKAGE}/package.json`)), 'clients/launcher/build/index.js');
  } catch {
    return undefined;
  }
}
const program = findInspector();
const skip = program === undefined && `needs ${PACKAGE} beside Node 22.19 or later`;

/** Its exit codes. */
const AUTH_REQUIRED = 3;
const TOOL_IS_ERROR = 5;

const rig = await createRig();

function inspector(t: Test, url: string, era: string) {
  const home = temporaryFolder(t);
  return async (...args: string[]) => {
    const child = spawn(
      process.execPath,
      [
        String(program),
        '--cli',
        `${url}/mcp`,
        '--transport',
        'http',
        '--protocol-era',
        era,
        '--format',
        'json',
        ...args,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, HOME: home }, timeout: TIMEOUT_MS },
    );
    const exited = once(child, 'exit') as Promise<[number]>;
    const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const [code] = await exited;
    return { code, complained, result: said === '' ? undefined : JSON.parse(said).result };
  };
}

for (const era of ['modern', 'legacy']) {
  t.test(`the Inspector, ${era} era`, { skip }, async (t) => {
    const { headers, number, url } = await subscriber(t, rig);
    const client = await toolClient(t, url);
    const inspect = inspector(t, url, era);
    const bearer = ['--header', `Authorization: ${headers.Authorization}`];
    const call = (tool: string, ...args: string[]) =>
      inspect('--method', 'tools/call', '--tool-name', tool, ...args);

    const listed = await inspect('--method', 'tools/list', '--strict');
    t.match(listed, { code: 0, complained: '' }, 'no schema that a client would stumble over');
    t.same(listed.result.tools, await client.tools());
    t.match(await call('list_services'), {
      code: 0,
      result: { structuredContent: { services: [{ name: 'us_mobile_number' }] } },
    });
    t.match(await call('get_number', ...bearer), { code: 0, result: { structuredContent: { number } } });
    t.match(await call('receive_sms', '--tool-arg', 'wait_seconds=0', 'limit=5', ...bearer), {
      code: 0,
      result: { structuredContent: { messages: [], count: 0 } },
    });
    t.match(await call('hangup_call', '--tool-arg', 'call_id=call_none', ...bearer), {
      code: TOOL_IS_ERROR,
      result: { isError: true, structuredContent: { error: 'call_not_found' } },
    });
    t.match(await call('get_number', '--stored-auth-only'), { code: AUTH_REQUIRED });
  });
}
