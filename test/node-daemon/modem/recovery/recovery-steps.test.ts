// Where the commands of recovery steps go, and what a stop leaves behind.
import t from 'tap';
import type { Port } from '#node-daemon/at/port.ts';
import { type StepParts, takeStep } from '#node-daemon/modem/recovery/recovery-steps.ts';
import { GENERIC } from '#node-daemon/profiles/generic.ts';
import { ManualClock } from '../../../fixtures/clocks/manual-clock.ts';
import { runUntil } from '../../../fixtures/clocks/running-clock.ts';
import { lines, ScriptedPort } from '../../../fixtures/nodes/scripted-port.ts';

const PATHS = ['/dev/ttyUSB0', '/dev/ttyUSB2'] as const;

function setUp(parts: Partial<StepParts> = {}) {
  const clock = new ManualClock();
  const silent = new ScriptedPort().on(/(?:)/, () => undefined);
  const good = new ScriptedPort().on(/^AT/, lines('OK'));
  const opened: string[] = [];
  const openPort = async (path: string): Promise<Port> => {
    opened.push(path);
    return path === PATHS[0] ? silent : good;
  };
  const stop = new AbortController();
  const run = async () => {
    let isDone = false;
    const fixed = {
      place: { ports: PATHS },
      profile: GENERIC,
      openPort,
      clock,
      outside: {},
      signal: stop.signal,
    };
    const step = takeStep('radio', { ...fixed, ...parts }).catch(() => 0);
    void step.then(() => {
      isDone = true;
    });
    return await runUntil('the step', () => isDone, { clock, limitMs: 60_000 });
  };
  return { good, opened, run, silent, stop };
}

t.test('a step goes to the port that answers', async (t) => {
  const { good, run, silent } = setUp();
  await run();
  t.equal(silent.count(/CFUN/), 0);
  t.same(
    good.received.filter((text) => /CFUN/.test(text)),
    ['AT+CFUN=0', 'AT+CFUN=1'],
  );
});

t.test('the port that last answered with the IMEI is the first', async (t) => {
  const { opened, run } = setUp({ provenPort: PATHS[1] });
  await run();
  t.same(opened, [PATHS[1]]);
});

t.test('a stop between radio off and radio on does not leave it off', async (t) => {
  const { good, run, stop } = setUp({ provenPort: PATHS[1] });
  good.on(/CFUN=0/, () => {
    setImmediate(() => stop.abort());
    return undefined;
  });
  good.on(/CFUN=1/, () => undefined);
  t.ok((await run()) < 2_000, 'the stop waits no longer');
  t.equal(good.received.at(-1), 'AT+CFUN=1');
});
