// A disk that is full: the kernel refuses what the journal would write (ENOSPC) until there is room again.
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type DaemonOnRack, startDaemonOnRack } from '../fixtures/nodes/daemon-on-rack.ts';
import { until } from '../fixtures/until.ts';

const STRANGER = '+12065559999';
/** The journal is tried again now and then, and the modem's stores are read again. */
const AGAIN_MS = 60_000;

const DISK_BYTES = 1024 * 1024;
/** Far more than fit into the room that a journal keeps. */
const MESSAGES_MAX = 2_000;

/** A disk of its own, so that a file can fill it. */
function mountDisk(folder: string): () => void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', folder]);
  return () => execFileSync('umount', [folder]);
}

const start = (t: Test): Promise<DaemonOnRack> =>
  startDaemonOnRack(t, { rack: { modems: 1 }, prepareData: mountDisk });

const fillerOf = ({ dataFolder }: DaemonOnRack): string => join(dataFolder, 'filler');

/** Takes all room there is, to the last octet. */
function takeRoom(rig: DaemonOnRack): void {
  const filler = openSync(fillerOf(rig), 'a');
  try {
    for (let bytes = 4096; bytes >= 1; bytes /= 2) {
      while (takes(filler, bytes));
    }
  } finally {
    closeSync(filler);
  }
}

function takes(file: number, bytes: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(bytes)) > 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false;
    throw error;
  }
}

/** Messages until the journal has used what room it had; those that it does not take stay on the SIM. */
async function fillDisk(t: Test, rig: DaemonOnRack): Promise<string[]> {
  const { plane, simulator } = rig;
  const [modem] = simulator.modems;
  if (modem === undefined) throw new Error('no modem');
  await until('the disk is nearly full, which is reported before it refuses writes', () =>
    plane.alarms.includes('disk_nearly_full'),
  );
  t.notOk(plane.alarms.includes('journal_unavailable'));
  takeRoom(rig);
  const bodies: string[] = [];
  while (!plane.alarms.includes('journal_unavailable')) {
    if (bodies.length >= MESSAGES_MAX) throw new Error('the journal takes more than its room');
    const body = `${bodies.length} ${'long '.repeat(50)}`;
    bodies.push(body);
    simulator.carrier.send({ from: STRANGER, to: modem.identity.number, body });
    const reported = received(rig).length;
    await until(
      'a message or an alarm',
      () => received(rig).length > reported || plane.alarms.includes('journal_unavailable'),
      AGAIN_MS,
    );
  }
  return bodies;
}

const stored = ({ simulator }: DaemonOnRack): number =>
  simulator.modems.reduce((sum, { stores }) => sum + stores.used('ME') + stores.used('SM'), 0);

const received = ({ plane }: DaemonOnRack): string[] => plane.factsOf('sms_received').map(({ body }) => body);

const options = process.getuid?.() === 0 ? {} : { skip: 'only root may mount a disk' };

t.test('messages stay on the SIM while the disk is full, and come once there is room', options, async (t) => {
  const rig = await start(t);
  const bodies = await fillDisk(t, rig);
  t.ok(stored(rig) > 0, 'a message that cannot be written stays on the modem');
  t.ok(received(rig).length < bodies.length);
  const iccid = rig.simulator.modems[0]?.identity.iccid;
  const sent: string[] = [];
  const send = async (): Promise<string> => {
    const body = `sent ${sent.length}`;
    const answer = await rig.plane.command('send_sms', { iccid, to: STRANGER, body, segments_max: 1 });
    if (answer.type === 'refusal') return answer.code;
    sent.push(body);
    return 'result';
  };
  // A record of a send is short: some may still fit.
  await until('no message is taken', async () => (await send()) === 'journal_unavailable', AGAIN_MS);

  rmSync(fillerOf(rig));
  await until('all messages', () => received(rig).length >= bodies.length, AGAIN_MS);
  await until('an empty store', () => stored(rig) === 0, AGAIN_MS);
  t.same(received(rig).sort(), bodies.sort(), 'once each');
  await until('no alarm', () => !rig.plane.alarms.includes('journal_unavailable'), AGAIN_MS);
  t.equal(await send(), 'result', 'messages are taken again');
  const heard = rig.simulator.carrier.heard().map(({ body }) => body);
  t.same(heard, sent, 'refused messages never went out');
});

t.test('a daemon that is killed while the disk is full loses nothing', options, async (t) => {
  const rig = await start(t);
  const bodies = await fillDisk(t, rig);
  await rig.kill();
  rmSync(fillerOf(rig));
  rig.start();
  await until('all messages', () => received(rig).length >= bodies.length, AGAIN_MS);
  await until('an empty store', () => stored(rig) === 0, AGAIN_MS);
  t.same(received(rig).sort(), bodies.sort(), 'once each');
});
