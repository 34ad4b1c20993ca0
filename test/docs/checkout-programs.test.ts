// The programs on the pages that a reader runs in the folder of the checkout: a fault of the simulator, an API like Twilio's, and a bridge.
import { readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { botServer } from '../fixtures/agents/bot-server.ts';
import { FAR_END, telephone } from '../fixtures/agents/telephone.ts';
import { createRig } from '../fixtures/service/rig.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { until } from '../fixtures/until.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';
import { runExample } from './example.ts';
import { blockWith } from './pages.ts';

const START_MS = 60_000;
const rig = await createRig();

/** In one process: to load the sources is most of their work. */
const RUN_ALL = `await import('./refused.ts');
await import('./api.ts');
await import('./bridge.ts');
`;

t.test('the programs of faults.md, twilio.md and bots.md', async (t) => {
  const phone = await telephone(t, rig);
  const bots = await botServer(t);
  const folder = temporaryFolder(t);
  for (const name of readdirSync(PROJECT_FOLDER))
    if (!/^(?:data|\..*)$/.test(name)) symlinkSync(join(PROJECT_FOLDER, name), join(folder, name));
  const program = (name: string, code: string): void => writeFileSync(join(folder, name), code);
  program('refused.ts', blockWith('simulator/faults.md', 'parseFault'));
  program(
    'api.ts',
    `${blockWith('agents/twilio.md', 'startTwilioApi').replace('port: 2010', 'port: 0')}
    console.log(JSON.stringify({ url, accountSid, authToken, isEndless: typeof close !== 'function' }));\n`,
  );
  program(
    'bridge.ts',
    blockWith('agents/bots.md', 'await bridgeCalls').replace('ws://localhost:7860/ws', bots.url),
  );
  program('all.ts', RUN_ALL);

  const lines: string[] = [];
  const running = runExample([process.execPath, '--import', 'tsx', 'all.ts'], {
    cwd: folder,
    env: { PATH: String(process.env['PATH']), SIMRACK_URL: phone.url, SIMRACK_TOKEN: phone.token },
    onLine: async (line) => void lines.push(line),
  });
  void running.then(({ stderr }) => lines.push('', stderr));
  await until('the API', () => lines.length > 1, START_MS);
  const [refused, api] = lines;
  t.equal(refused, 'The modem refuses AT+CSQ', lines.join('\n'));
  const { url, accountSid, authToken, isEndless } = JSON.parse(String(api)) as Record<string, string>;
  t.equal(isEndless, false);
  const sent = await fetch(`${url}/2010-04-01/Accounts/${accountSid}/Messages.json`, {
    method: 'POST',
    headers: { Authorization: `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}` },
    body: new URLSearchParams({ To: FAR_END, From: phone.number, Body: 'hello' }),
  });
  t.equal(sent.status, 201, await sent.text());
  t.match(phone.node.commands('send_sms')[0]?.params, { to: FAR_END, body: 'hello' });

  phone.line.ring();
  const bot = await until('the bot', () => bots.bots[0], START_MS);
  await until('it is connected', () => bot.of({ event: 'start' }).length === 1);
  bot.socket.close(1000);
  await until('it hangs up', () => phone.line.calls.length === 0);
  t.equal(lines.length, 2, lines.join('\n'));
});
