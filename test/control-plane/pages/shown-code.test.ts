// The code of the landing page, copied and run as it stands: a number bought, called, recovered and texted with.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { FRAME_BYTES } from '#shared/voice/media.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { ScriptedLine } from '../../fixtures/nodes/scripted-line.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';

const run = promisify(execFile);
const PROGRAM_TIMEOUT_MS = 60_000;
const rig = await createRig();

/** The text that a browser would copy from the block with this title. */
async function shownCode(url: string, title: string): Promise<string> {
  const html = await (await fetch(url, { headers: { Accept: 'text/html' } })).text();
  const code = new RegExp(`<pre [^>]*"Code: ${title}">([^<]+)</pre>`).exec(html)?.[1];
  if (code === undefined) throw new Error(`no code of "${title}"`);
  return code.replace(/&#(\d+);/g, (_, number: string) => String.fromCharCode(Number(number)));
}

t.test('each step does what its text says', async (t) => {
  const { url } = await rig.start(t);
  const line = new ScriptedLine(url);
  line.node = await rig.connect(t, url, { onCommand: line.onCommand });

  // Within the project, so that it finds its packages.
  const place = join(PROJECT_FOLDER, '.tests');
  mkdirSync(place, { recursive: true });
  const folder = mkdtempSync(join(place, 'shown-code-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const program = join(folder, 'steps.mjs');
  writeFileSync(
    program,
    [
      "import { privateKeyToAccount } from 'viem/accounts';",
      `const wallet = privateKeyToAccount('${ALICE.privateKey}');`,
      await shownCode(url, 'Pay'),
      await shownCode(url, 'Call'),
      "await new Promise((resolve) => call.once('close', resolve));",
      await shownCode(url, 'Sign in again'),
      'console.log(JSON.stringify({ number, token, expires_at, newToken }));',
    ].join('\n'),
  );
  const running = run(process.execPath, [program], { timeout: PROGRAM_TIMEOUT_MS });
  running.catch(() => undefined);
  const call = await until('the call', () => line.calls[0], PROGRAM_TIMEOUT_MS);
  t.match(call, { direction: 'outbound', peer: '+13105550188' });
  line.answer(call.call_id);
  const media = await until('the media link', () => line.media);
  await until('an echo', () => {
    media.capture(Buffer.alloc(FRAME_BYTES, 7));
    return media.heard.includes(Buffer.alloc(FRAME_BYTES, 7));
  });
  line.end(call, { reason: 'remote_hangup', cause: 16 });

  const { number, token, expires_at: expiresAt, newToken } = JSON.parse((await running).stdout);
  t.match(number, /^\+1206555\d{4}$/);
  t.ok(Date.parse(expiresAt) > Date.now());
  const withToken = (TOKEN: string) => run('bash', ['-c', code], { env: { ...process.env, TOKEN } });
  const code = await shownCode(url, 'Text');
  t.match((await withToken(newToken)).stdout, /"status":"queued".*"messages":\[\]/s);
  t.match(
    (await withToken(token)).stdout,
    /"unauthorized".*"unauthorized"/s,
    'the lost one is worth nothing',
  );
});
