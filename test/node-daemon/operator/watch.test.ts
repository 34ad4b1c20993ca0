// `node-daemon watch` on a real terminal, and where there is none.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import t from 'tap';
import { startOnTerminal } from '../../fixtures/terminal-program.ts';
import { until } from '../../fixtures/until.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';
import { ended, startToolRig } from './tool-rig.ts';

const PROGRAM = 'node-daemon/bin.cjs';
const STRANGER = '+12065559999';
const ENTER = '\u001b[?1049h';
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l';
/** A line that is too long does not begin the next one. */
const NO_WRAP = '\u001b[?7l';

const rig = await startToolRig(t, { modems: 8 });
const { env, simulator } = rig;
let daemon = await rig.startDaemon();

/** The last drawn screen, without colors. */
const screenOf = (output: string): string[] =>
  stripVTControlCharacters(output.split('\u001b[H').at(-1) ?? '')
    .split('\r\n')
    .map((line) => line.trimEnd());

t.test('draws what happens, follows the size, and leaves the terminal clean', async (t) => {
  const watch = startOnTerminal(t, PROGRAM, ['watch'], { env, columns: 130, rows: 20 });
  const screen = (): string[] => screenOf(watch.output());
  const first = /^1-1\.1 +registered +00101 +-71 +[▁▂▃▄▅▆▇█]+ +0 +0 +0 +0 +\d\d:\d\d:\d\d registered$/;
  // A slot is registered some commands before its carrier and its signal are known.
  await until('the table', () => screen().length === 10 && first.test(screen()[2] ?? ''));
  t.match(watch.output(), ENTER);
  t.match(watch.output(), NO_WRAP);
  t.match(screen()[0], /^\d\d:\d\d:\d\d {2}8 of 8 slots in service, linked, 0 facts in the journal$/);
  t.match(screen()[1], /^SLOT +STATE +CARRIER +DBM +SIGNAL +CALLS +IN +OUT +FAIL +LAST EVENT$/);
  t.match(watch.output(), '\u001b[32mregistered');
  const [modem] = simulator.modems;
  const sms = { from: STRANGER };
  simulator.carrier.send({ ...sms, to: String(modem?.number), body: 'secret' });
  await until('a message', () => / 1 +0 +0 +\S+ SMS received$/.test(screen()[2] ?? ''));
  simulator.modems[7]?.power.unplug();
  await until('a modem that goes', () => /^1-2\.1 +lost \(absent\)/.test(screen()[9] ?? ''));
  simulator.modems[7]?.power.plugIn();
  t.notMatch(watch.output(), 'secret');
  t.notMatch(watch.output(), STRANGER);

  watch.resize(40, 6);
  await until('a smaller screen', () => /^… 5 more slots/.test(screen()[5] ?? ''));
  t.equal(screen().length, 6);
  t.ok(screen().every((line) => [...line].length <= 40));
  watch.type('\u0003');
  t.equal(await watch.ended, 0);
  t.ok(watch.output().endsWith(LEAVE), 'cursor and screen are as they were');
});

t.test('waits for a daemon that goes, and goes on with it', async (t) => {
  const watch = startOnTerminal(t, PROGRAM, ['watch'], { env, columns: 150, rows: 20 });
  const head = (): string => screenOf(watch.output())[0] ?? '';
  await until('the table', () => /slots in service/.test(head()));
  await ended(daemon, 'SIGKILL');
  await until('it is printed', () => /the daemon stopped: waiting for it/.test(head()));
  daemon = await rig.startDaemon();
  await until('it is back', () => /8 of 8 slots in service, linked/.test(head()) && !/gone/.test(head()));
  watch.type('\u0003');
  t.equal(await watch.ended, 0);
});

t.test('NO_COLOR, and lines where there is no terminal', async (t) => {
  const plain = startOnTerminal(t, PROGRAM, ['watch'], {
    env: { ...env, NO_COLOR: '1' },
    columns: 100,
    rows: 20,
  });
  await until('the table', () => /8 of 8/.test(plain.output()));
  plain.type('\u0003');
  await plain.ended;
  t.notMatch(plain.output(), '\u001b[3');

  const child = spawn(process.execPath, [join(PROJECT_FOLDER, PROGRAM), 'watch'], {
    env: { PATH: String(process.env['PATH']), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += String(chunk);
  });
  await until('a line for each slot', () => output.split('\n').length > 8);
  simulator.modems[2]?.power.unplug();
  await until('a change', () => /^\S+Z {2}1-1\.3 {2}lost \(absent\).*$/m.test(output));
  simulator.modems[2]?.power.plugIn();
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  t.same(await closed, [0, null]);
  t.notMatch(output, '\u001b');
});
