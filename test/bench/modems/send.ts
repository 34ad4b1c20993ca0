// Sending from one SIM without radio delay: what a text costs the daemon's host; its rate beside a raw AT loop and other SMS programs.
import { until } from '../../fixtures/until.ts';
import { startChild } from '../child.ts';
import { against, compare, perSecond } from '../compare.ts';
import type { Measurement } from '../report.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';
import { LinkedDaemon } from './linked-daemon.ts';
import { OTHER_PROGRAMS_MAX, startOtherPrograms } from './other-programs.ts';
import { ProcessorMeter } from './processor-meter.ts';
import { sentPerMinute } from './radio.ts';
import { type RackModem, SimulatedRack } from './simulated-rack.ts';

const ROUNDS = 7;
const MESSAGES = 500;
/** They send one or two a second. */
const OTHERS_MESSAGES = 20;
const OTHERS_TIMEOUT_MS = 60_000;
const TO = '+13105550188';

export function benchSend(): Promise<Measurement[]> {
  return withTemporaryFolder(async (folder) => {
    const rack = await SimulatedRack.start({ folder, modems: 2 + OTHER_PROGRAMS_MAX });
    try {
      const { measurements, ours } = await sendBesideRaw(rack, folder);
      const others = await sendWithOthers(rack, folder, rack.modems.slice(2));
      return [
        ...measurements,
        ...others.map(({ name, rate }) => against(`sent from one SIM : ${name}`, ours, rate)),
      ];
    } finally {
      await rack.stop();
    }
  });
}

/**
 * Twice: with a carrier that sends no delivery reports, where both sides do the same, and with one for each message. The daemon matches,
 * journals and sends those reports; the raw loop drops them.
 */
async function sendBesideRaw(
  rack: SimulatedRack,
  folder: string,
): Promise<{ measurements: Measurement[]; ours: number[] }> {
  const [modem, rawModem] = [rack.modem(0), rack.modem(1)];
  const daemon = await LinkedDaemon.start(folder, [modem]);
  const raw = await startChild('test/bench/modems/raw-loop.ts', { PORTS: rawModem.ports.at });
  const meter = new ProcessorMeter(daemon.pid);
  const send = (): Promise<void> => daemon.sendMany(modem, TO, MESSAGES);
  const sides = {
    ours: () => meter.round(MESSAGES, () => perSecond(MESSAGES, send)),
    theirs: () => perSecond(MESSAGES, () => raw.ask({ send: MESSAGES, receive: 0, to: [TO] })),
    rounds: ROUNDS,
    unit: 'SMS/s',
  };
  try {
    for (const each of [modem, rawModem]) await rack.withholdReports(each);
    const { measurement, ours } = await compare({
      name: 'sent from one SIM : raw AT loop',
      ...sides,
    });
    const cost = meter.measurement('processor time, a text sent', ROUNDS, 0.25);
    for (const each of [modem, rawModem]) await rack.release(each);
    const reported = await compare({
      name: 'the same, each with a report that the raw loop drops',
      ...sides,
    });
    const reportedCost = meter.measurement('processor time, a text sent and reported', ROUNDS, 0.5);
    return { measurements: [measurement, cost, reported.measurement, reportedCost], ours };
  } finally {
    for (const program of [daemon, raw]) await program.stop();
  }
}

/** Both at once: they sleep most of the time. */
async function sendWithOthers(
  rack: SimulatedRack,
  folder: string,
  modems: readonly RackModem[],
): Promise<{ name: string; rate: number }[]> {
  const programs = startOtherPrograms(folder, modems);
  try {
    return await Promise.all(
      programs.map(async ({ name, modem, queue }) => {
        queue(TO, OTHERS_MESSAGES);
        const isDone = async (): Promise<boolean> => (await rack.heardFrom(modem)).length >= OTHERS_MESSAGES;
        await until(`${name} has sent all`, isDone, OTHERS_TIMEOUT_MS);
        return { name, rate: (await sentPerMinute(rack, modem)) / 60 };
      }),
    );
  } finally {
    for (const program of programs) await program.stop();
  }
}
