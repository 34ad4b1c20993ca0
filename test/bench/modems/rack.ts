// 64 modems in one daemon: throughput against 64 raw loops in one process, turnaround against one modem, memory.
import { setTimeout as pause } from 'node:timers/promises';
import { residentMegabytes, startChild } from '../child.ts';
import { compare, perSecond } from '../compare.ts';
import { type Measurement, percentile } from '../report.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';
import { LinkedDaemon } from './linked-daemon.ts';
import { type RackModem, SimulatedRack } from './simulated-rack.ts';

const MODEMS = 64;
const ROUNDS = 5;
/** Each modem sends this many to its neighbour, and receives as many. */
const MESSAGES = 30;

/** Turnaround: messages of a round, and the gap between one and the next, whichever modem they are for. */
const PACED_MESSAGES = 320;
const PACED_GAP_MS = 15;

export function benchRack(): Promise<Measurement[]> {
  return withTemporaryFolder(async (folder) => {
    // The daemon's, the raw loops', and the one of the daemon that has no other.
    const rack = await SimulatedRack.start({ folder, modems: 2 * MODEMS + 1 });
    const modems = rack.modems.slice(0, MODEMS);
    const rawModems = rack.modems.slice(MODEMS, 2 * MODEMS);
    const lonely = [rack.modem(2 * MODEMS)];
    const daemon = await LinkedDaemon.start(`${folder}/many`, modems);
    const lonelyDaemon = await LinkedDaemon.start(`${folder}/one`, lonely);
    try {
      const throughput = await benchThroughput(rack, { daemon, modems, rawModems });
      const memory = residentMegabytes(daemon.pid);
      const turnaround = await benchTurnaround(rack, { daemon, modems, lonelyDaemon, lonely });
      return [
        throughput,
        turnaround,
        { name: `node-daemon RSS, ${MODEMS} modems`, rounds: [memory], unit: 'MB', target: { atMost: 150 } },
      ];
    } finally {
      for (const program of [daemon, lonelyDaemon, rack]) await program.stop();
    }
  });
}

async function benchThroughput(
  rack: SimulatedRack,
  {
    daemon,
    modems,
    rawModems,
  }: { daemon: LinkedDaemon; modems: readonly RackModem[]; rawModems: readonly RackModem[] },
): Promise<Measurement> {
  const raw = await startChild('test/bench/modems/raw-loop.ts', {
    PORTS: rawModems.map(({ ports }) => ports.at).join(','),
  });
  // Neither side has delivery reports, which only the daemon would do anything about.
  for (const modem of [...modems, ...rawModems]) await rack.withholdReports(modem);
  const total = 2 * MODEMS * MESSAGES;
  const ours = (): Promise<number> => {
    const before = daemon.received.length;
    return perSecond(total, async () => {
      await Promise.all(
        modems.map((modem, position) => daemon.sendMany(modem, neighbour(modems, position), MESSAGES)),
      );
      await daemon.receivedAtLeast(before + MODEMS * MESSAGES);
      await rack.emptied(modems);
    });
  };
  const theirs = (): Promise<number> =>
    perSecond(total, async () => {
      const to = rawModems.map((_, position) => neighbour(rawModems, position));
      await raw.ask({ send: MESSAGES, receive: MESSAGES, to });
      await rack.emptied(rawModems);
    });
  try {
    const { measurement } = await compare({
      name: `sent and received, ${MODEMS} modems : as many raw loops`,
      ours,
      theirs,
      rounds: ROUNDS,
      atLeast: 0.7,
      unit: 'SMS/s',
    });
    return measurement;
  } finally {
    await raw.stop();
  }
}

function neighbour(modems: readonly RackModem[], position: number): string {
  const modem = modems[(position + 1) % modems.length];
  if (modem === undefined) throw new Error('no modems');
  return modem.number;
}

/**
 * Turnaround is the time from a modem's +CMTI to the fact on the link. The load is the same for the one
 * modem as for the 64 together, in messages per second, so that only their number differs.
 */
async function benchTurnaround(
  rack: SimulatedRack,
  rig: {
    daemon: LinkedDaemon;
    modems: readonly RackModem[];
    lonelyDaemon: LinkedDaemon;
    lonely: readonly RackModem[];
  },
): Promise<Measurement> {
  const rounds: number[] = [];
  let remark = '';
  for (let round = 0; round <= ROUNDS; round += 1) {
    const many = percentile(await turnaroundsMs(rack, rig.daemon, rig.modems), 99);
    const one = percentile(await turnaroundsMs(rack, rig.lonelyDaemon, rig.lonely), 99);
    if (round > 0) rounds.push(many / one);
    remark = `last round ${many.toFixed(1)} ms against ${one.toFixed(1)} ms`;
  }
  const name = `turnaround p99, ${MODEMS} modems : one modem`;
  return { name, rounds, unit: '×', target: { atMost: 2 }, remark };
}

async function turnaroundsMs(
  rack: SimulatedRack,
  daemon: LinkedDaemon,
  modems: readonly RackModem[],
): Promise<number[]> {
  const announced = new Map<string, number[]>(modems.map(({ iccid }) => [iccid, []]));
  const events = await rack.onAnnounced(({ iccid }, atMs) => {
    // Whole milliseconds: half of one is lost in the mean.
    announced.get(iccid)?.push(atMs + 0.5 - performance.timeOrigin);
  });
  const before = daemon.received.length;
  for (let message = 0; message < PACED_MESSAGES; message += 1) {
    const modem = modems[message % modems.length];
    if (modem !== undefined)
      await Promise.all([rack.deliver(modem, `message ${message}`), pause(PACED_GAP_MS)]);
  }
  await daemon.receivedAtLeast(before + PACED_MESSAGES);
  await rack.emptied(modems);
  events.close();
  // Each SIM keeps its order: its nth announcement and its nth fact are the same message.
  return daemon.received
    .slice(before)
    .map(({ atMs, iccid }) => atMs - (announced.get(iccid)?.shift() ?? Number.NaN));
}
