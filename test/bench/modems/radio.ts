// With a radio that takes 2.5 s for each message: what the daemon adds to it, and what other programs add.
import { setTimeout as pause } from 'node:timers/promises';
import type { Measurement } from '../report.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';
import { LinkedDaemon } from './linked-daemon.ts';
import { OTHER_PROGRAMS_MAX, startOtherPrograms } from './other-programs.ts';
import { type RackModem, SimulatedRack } from './simulated-rack.ts';

const MODEMS = 4;
const RADIO_MS = 2_500;
const SECONDS = 60;
/** More than the radio takes in that time. */
const QUEUED = 30;
const TO = '+13105550188';

export function benchRadio(): Promise<Measurement[]> {
  return withTemporaryFolder(async (folder) => {
    const rack = await SimulatedRack.start({
      folder,
      modems: MODEMS + OTHER_PROGRAMS_MAX,
      radioMs: RADIO_MS,
    });
    const modems = rack.modems.slice(0, MODEMS);
    const others = rack.modems.slice(MODEMS);
    const daemon = await LinkedDaemon.start(folder, modems);
    const programs = startOtherPrograms(folder, others);
    try {
      // Messages that are not sent at the end stay unsent.
      for (const modem of modems) daemon.sendMany(modem, TO, QUEUED).catch(() => undefined);
      for (const program of programs) program.queue(TO, QUEUED);
      await pause(SECONDS * 1000);
      const rates = (some: readonly RackModem[]): Promise<number[]> =>
        Promise.all(some.map((modem) => sentPerMinute(rack, modem)));
      const unit = 'SMS/min';
      return [
        {
          name: `sent with ${RADIO_MS / 1000} s of radio, each modem`,
          rounds: await rates(modems),
          unit,
          target: { atLeast: 23.92 },
          remark: `ideal ${(60_000 / RADIO_MS).toFixed(0)}`,
        },
        ...(await Promise.all(
          programs.map(async ({ name, modem }) => ({
            name: `the same, ${name}`,
            rounds: await rates([modem]),
            unit,
          })),
        )),
      ];
    } finally {
      for (const program of [...programs, daemon, rack]) await program.stop();
    }
  });
}

/** From the first message on the air to the last: a count in a minute would be whole messages. */
export async function sentPerMinute(rack: SimulatedRack, modem: RackModem): Promise<number> {
  const times = (await rack.heardFrom(modem)).map(({ at }) => Date.parse(at));
  const first = times[0];
  const last = times.at(-1);
  if (first === undefined || last === undefined || times.length < 2) return 0;
  return ((times.length - 1) * 60_000) / (last - first);
}
