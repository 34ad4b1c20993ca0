// The official conformance runner against the tool endpoint, once for each era; it needs Node 22.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { createRig } from '../fixtures/service/rig.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const TIMEOUT_MS = 180_000;
const isOlder = Number(process.versions.node.split('.')[0]) < 22;
const here = dirname(fileURLToPath(import.meta.url));
const tools = createRequire(join(here, '../tools/package.json'));
const runner = tools.resolve('@modelcontextprotocol/conformance/dist/index.js');

/** Checks that have something to test here. Checks that need tools and prompts of the suite's own are listed in the file beside. */
const REQUIRED = {
  '2026-07-28': [
    'server-stateless',
    'tools-list',
    'caching',
    'dns-rebinding-protection',
    'http-header-validation',
    'server-sse-multiple-streams',
  ],
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'],
};

const rig = await createRig();

for (const [revision, scenarios] of Object.entries(REQUIRED)) {
  t.test(`conformance to ${revision}`, { skip: isOlder && 'on Node 22 and later' }, async (t) => {
    const { url } = await rig.start(t);
    await rig.connect(t, url);
    const folder = temporaryFolder(t);
    const baseline = join(here, `tool-conformance-${revision}.yaml`);
    const child = spawn(
      process.execPath,
      [
        runner,
        'server',
        '--url',
        `${url}/mcp`,
        '--requirements',
        revision,
        '--expected-failures',
        baseline,
        '--output-dir',
        folder,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'], timeout: TIMEOUT_MS },
    );
    const said: string[] = [];
    for (const output of [child.stdout, child.stderr])
      output.on('data', (data: Buffer) => said.push(String(data)));
    const [code] = await once(child, 'exit');
    t.equal(code, 0, 'nothing failed that is not listed, and nothing listed passed');
    if (code !== 0) t.comment(said.join(''));

    const checks = readdirSync(folder).flatMap((name) => {
      const scenario = /^server-(.*?)-\d{4}-\d\d-\d\dT/.exec(name)?.[1] ?? '';
      const results = JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')) as Check[];
      return results.map(({ id, status }) => ({ scenario, id, status }));
    });
    for (const scenario of scenarios)
      t.ok(
        checks.some((check) => check.scenario === scenario && check.status === 'SUCCESS'),
        `${scenario} was run`,
      );
    const frames = checks.filter(({ id }) => id === 'wire-schema-valid');
    t.ok(frames.length > 0);
    t.same(
      frames.filter(({ status }) => status !== 'SUCCESS'),
      [],
      'every message has the shape of its revision',
    );
  });
}

interface Check {
  id: string;
  status: string;
}
