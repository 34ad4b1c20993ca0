// Receiving on one SIM, from the air to a fact and the deletion: against a raw AT loop and other SMS programs.
import { until } from '../fixtures/until.ts';
import { startChild } from './child.ts';
import { against, compare, perSecond } from './compare.ts';
import { LinkedDaemon } from './linked-daemon.ts';
import { OTHER_PROGRAMS_MAX, startOtherPrograms } from './other-programs.ts';
import { type Measurement, median } from './report.ts';
import { type RackModem, SimulatedRack } from './simulated-rack.ts';
import { withTemporaryFolder } from './temporary-folder.ts';

const ROUNDS = 7;
const MESSAGES = 500;
/** Fewer than a SIM has room for. */
const OTHERS_MESSAGES = 40;
const OTHERS_ROUNDS = 3;
const OTHERS_TIMEOUT_MS = 60_000;

export function benchReceiveSms(): Promise<Measurement[]> {
  return withTemporaryFolder(async (folder) => {
    const rack = await SimulatedRack.start({ folder, modems: 2 + OTHER_PROGRAMS_MAX });
    try {
      const { measurement, ours } = await receiveBesideRaw(rack, folder);
      const others = await receiveWithOthers(rack, folder, rack.modems.slice(2));
      return [
        measurement,
        ...others.map(({ name, rate }) => against(`received by one SIM : ${name}`, ours, rate)),
      ];
    } finally {
      await rack.stop();
    }
  });
}

async function receiveBesideRaw(rack: SimulatedRack, folder: string): ReturnType<typeof compare> {
  const [modem, rawModem] = [rack.modem(0), rack.modem(1)];
  const daemon = await LinkedDaemon.start(folder, [modem]);
  const raw = await startChild('test/bench/raw-loop.ts', { PORTS: rawModem.ports.at });
  const ours = (): Promise<number> => {
    const before = daemon.receivedCount;
    return receivedPerSecond(rack, modem, MESSAGES, () => daemon.receivedAtLeast(before + MESSAGES));
  };
  const theirs = (): Promise<number> =>
    receivedPerSecond(rack, rawModem, MESSAGES, () => raw.ask({ send: 0, receive: MESSAGES, to: [] }));
  try {
    return await compare({
      name: 'received by one SIM : raw AT loop',
      ...{ ours, theirs, rounds: ROUNDS, atLeast: 0.8, unit: 'SMS/s' },
    });
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
