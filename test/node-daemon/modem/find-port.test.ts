// Which port of a device is used, and that none is while another program has one of them.
import t from 'tap';
import type { Port } from '#node-daemon/at/port.ts';
import { findPort } from '#node-daemon/modem/find-port.ts';
import { sessionFailureOf } from '#node-daemon/modem/recovery/trouble.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { runUntil } from '../../fixtures/clocks/running-clock.ts';
import { lines, ScriptedPort } from '../../fixtures/nodes/scripted-port.ts';

const IMEI = '350000000000017';

const answering = () => new ScriptedPort().on(/^AT/, lines('OK')).on(/^AT\+CGSN$/, lines(IMEI, 'OK'));
const mute = () => new ScriptedPort().on(/(?:)/, () => undefined);
/** The serial library's error for a port that is locked. */
const taken = (): Error => new Error('Error: Error Resource temporarily unavailable Cannot lock port');
const gone = (): Error => Object.assign(new Error('no such device'), { code: 'ENODEV' });

/** The result of a search through ports, by their order. */
async function find(ports: readonly (ScriptedPort | Error)[]) {
  const clock = new ManualClock();
  const openPort = async (path: string): Promise<Port> => {
    const port = ports[Number(path)];
    if (port instanceof Error) throw port;
    return port ?? mute();
  };
  const parts = { openPort, clock, log: silentLogger, signal: new AbortController().signal };
  let result: { found?: Awaited<ReturnType<typeof findPort>>; failure?: string } | undefined;
  void findPort([...ports.keys()].map(String), parts).then(
    (found) => {
      result = { found };
    },
    (error: unknown) => {
      result = { failure: sessionFailureOf(error) };
    },
  );
  await runUntil('the end of the search', () => result !== undefined, { clock, limitMs: 60_000 });
  return result;
}

t.test('the first port that answers is used, and the others are closed', async (t) => {
  const ports = [mute(), answering(), answering()];
  t.match(await find(ports), { found: { path: '1', imei: IMEI } });
  t.same(
    ports.map(({ closed }) => closed),
    [true, false, true],
  );
  t.same(ports[2]?.received, [], 'a port that is not needed gets no command');
});

t.test('a port that is gone does not matter where another one answers', async (t) => {
  t.match(await find([gone(), answering(), gone()]), { found: { path: '1' } });
});

t.test('a modem of which another program has a port is denied, whichever port that is', async (t) => {
  for (const place of [0, 1, 2]) {
    const ports = [0, 1, 2].map((index) => (index === place ? taken() : index === 0 ? mute() : answering()));
    t.match(await find(ports), { failure: 'denied' }, `port ${place}`);
    for (const port of ports) if (port instanceof ScriptedPort && port.received.length > 0) t.ok(port.closed);
  }
});
