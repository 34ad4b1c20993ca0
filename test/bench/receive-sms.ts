// Receiving on one SIM, from the air to a fact and the deletion: what a text costs, and its rate beside a raw AT loop and other programs.
import { until } from '../fixtures/until.ts';
import { startChild } from './child.ts';
import { against, type Compared, compare, perSecond } from './compare.ts';
import { LinkedDaemon } from './modems/linked-daemon.ts';
import { OTHER_PROGRAMS_MAX, startOtherPrograms } from './modems/other-programs.ts';
import { ProcessorMeter } from './modems/processor-meter.ts';
import { type RackModem, SimulatedRack } from './modems/simulated-rack.ts';
import { type Measurement, median } from './report.ts';
import { withTemporaryFolder } from './temporary-folder.ts';

const ROUNDS = 7;
/** A round is some bursts; a burst is less than the modem has room for (255). */
const BURSTS = 4;
const BURST_MESSAGES = 200;
/** Fewer than a SIM has room for. */
const OTHERS_MESSAGES = 40;
const OTHERS_ROUNDS = 3;
const OTHERS_TIMEOUT_MS = 60_000;

export function benchReceiveSms(): Promise<Measurement[]> {
  return withTemporaryFolder(async (folder) => {
    const rack = await SimulatedRack.start({ folder, modems: 2 + OTHER_PROGRAMS_MAX });
    try {
      const { measurement, cost, ours } = await receiveBesideRaw(rack, folder);
      const others = await receiveWithOthers(rack, folder, rack.modems.slice(2));
      return [
        measurement,
        cost,
        ...others.map(({ name, rate }) => against(`received by one SIM : ${name}`, ours, rate)),
      ];
    } finally {
      await rack.stop();
    }
  });
}

async function receiveBesideRaw(
  rack: SimulatedRack,
  folder: string,
): Promise<Compared & { cost: Measurement }> {
  const [modem, rawModem] = [rack.modem(0), rack.modem(1)];
  const daemon = await LinkedDaemon.start(folder, [modem]);
  const raw = await startChild('test/bench/modems/raw-loop.ts', { PORTS: rawModem.ports.at });
  const meter = new ProcessorMeter(daemon.pid);
  const ourBurst = (): Promise<number> => {
    const wanted = daemon.received.length + BURST_MESSAGES;
    return receivedPerSecond(rack, modem, BURST_MESSAGES, () => daemon.receivedAtLeast(wanted));
  };
  const ours = (): Promise<number> => meter.round(BURSTS * BURST_MESSAGES, () => roundOf(ourBurst));
  const theirs = (): Promise<number> =>
    roundOf(() => {
      const work = { send: 0, receive: BURST_MESSAGES, to: [] };
      return receivedPerSecond(rack, rawModem, BURST_MESSAGES, () => raw.ask(work));
    });
  try {
    const compared = await compare({
      name: 'received by one SIM : raw AT loop',
      ours,
      theirs,
      rounds: ROUNDS,
      unit: 'SMS/s',
    });
    return { ...compared, cost: meter.measurement('processor time, a text received', ROUNDS, 0.2) };
  } finally {
    for (const program of [daemon, raw]) await program.stop();
  }
}

/** Both at once: they sleep most of the time. */
async function receiveWithOthers(
  rack: SimulatedRack,
  folder: string,
  modems: readonly RackModem[],
): Promise<{ name: string; rate: number }[]> {
  const programs = startOtherPrograms(folder, modems);
  try {
    return await Promise.all(
      programs.map(async ({ name, modem, receivedCount }) => {
        const rates: number[] = [];
        for (let round = 1; round <= OTHERS_ROUNDS; round += 1) {
          const isDone = (): boolean => receivedCount() >= round * OTHERS_MESSAGES;
          const done = (): Promise<boolean> => until(`${name} has received all`, isDone, OTHERS_TIMEOUT_MS);
          rates.push(await receivedPerSecond(rack, modem, OTHERS_MESSAGES, done));
        }
        return { name, rate: median(rates) };
      }),
    );
  } finally {
    for (const program of programs) await program.stop();
  }
}

/** Messages per second over the bursts of a round, without the time between them. */
async function roundOf(burst: () => Promise<number>): Promise<number> {
  let seconds = 0;
  for (let each = 0; each < BURSTS; each += 1) seconds += 1 / (await burst());
  return BURSTS / seconds;
}

/** From the moment at which all may come to the moment at which all are `done` and deleted on the modem. */
async function receivedPerSecond(
  rack: SimulatedRack,
  modem: RackModem,
  count: number,
  done: () => Promise<unknown>,
): Promise<number> {
  await rack.holdBack(modem, count);
  return perSecond(count, async () => {
    const waiting = done();
    await rack.release(modem);
    await waiting;
    await rack.emptied([modem]);
  });
}
