// The journal's file is deleted under the running daemon: what the modem forgets survives a kill all the same.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startDaemonOnRack } from '../fixtures/nodes/daemon-on-rack.ts';
import { until } from '../fixtures/until.ts';

/** A refused message is tried again now and then. */
const AGAIN_MS = 60_000;

t.test('messages that came after it are reported after a kill, and once', async (t) => {
  const { dataFolder, kill, plane, simulator, start } = await startDaemonOnRack(t, { rack: { modems: 1 } });
  const [modem] = simulator.modems;
  if (modem === undefined) throw new Error('no modem');
  const isEmpty = (): boolean => modem.stores.used('ME') + modem.stores.used('SM') === 0;
  plane.acknowledges = false;
  rmSync(join(dataFolder, 'journal.log'));
  const bodies = Array.from({ length: 8 }, (_, number) => `message ${number}`);
  for (const body of bodies) {
    simulator.carrier.send({ from: '+12065559999', to: modem.identity.number, body });
  }
  await until('the alarm', () => plane.alarms.includes('journal_unavailable'), AGAIN_MS);
  await until('an empty store', isEmpty, AGAIN_MS);
  await kill();
  // Facts that it sent before have arrived by then.
  await until('the end of its link', () => plane.closes.length > 0);
  const reported = plane.factsOf('sms_received').length;
  start();
  const reportedAgain = (): string[] =>
    plane
      .factsOf('sms_received')
      .slice(reported)
      .map(({ body }) => body);
  await until('all messages', () => reportedAgain().length >= bodies.length, AGAIN_MS);
  t.same(reportedAgain().sort(), bodies);
});
