// Measures the cost of the daemon while sixteen modems send and receive all the time, at the speed of a radio: how many a core serves.
import { setTimeout as pause } from 'node:timers/promises';
import { processorSeconds } from '../child.ts';
import type { Measurement } from '../report.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';
import { LinkedDaemon } from './linked-daemon.ts';
import { type RackModem, SimulatedRack } from './simulated-rack.ts';

const MODEMS = 16;
/** As fast as a network is. */
const RADIO_MS = 2_500;
const ROUNDS = 5;
const ROUND_MS = 12_000;
/** More than the radio takes in the whole time. */
const QUEUED = 40;
const TO = '+13105550188';

export function benchCpu(): Promise<Measurement[]> {
  return withTemporaryFolder(async (folder) => {
    const rack = await SimulatedRack.start({ folder, modems: MODEMS });
    const daemon = await LinkedDaemon.start(folder, rack.modems);
    const work = { ended: false };
    try {
      for (const modem of rack.modems) {
        await rack.play(modem, { kind: 'send_delay', ms: RADIO_MS });
        daemon.sendMany(modem, TO, QUEUED).catch(() => undefined);
        keepDelivering(rack, modem, { everyMs: RADIO_MS, work }).catch(() => undefined);
        // They do not all send at the same instant.
        await pause(RADIO_MS / MODEMS);
      }
      const rounds: number[] = [];
      let usedBefore = processorSeconds(daemon.pid);
      const receivedBefore = daemon.received.length;
      for (let round = 0; round < ROUNDS; round += 1) {
        const startedAt = performance.now();
        await pause(ROUND_MS);
        const used = processorSeconds(daemon.pid);
        rounds.push(((used - usedBefore) * 1000 * 100) / (performance.now() - startedAt) / MODEMS);
        usedBefore = used;
      }
      const received = daemon.received.length - receivedBefore;
      return [
        {
          name: `processor, ${MODEMS} modems with ${RADIO_MS / 1000} s of radio`,
          rounds,
          unit: '% of a core a modem',
          target: { atMost: 1 },
          remark: `${received} received and about as many sent and reported in ${(ROUNDS * ROUND_MS) / 1000} s`,
        },
        {
          name: 'modems a core at that speed',
          rounds: rounds.map((percent) => 100 / percent),
          unit: 'modems',
        },
      ];
    } finally {
      work.ended = true;
      for (const program of [daemon, rack]) await program.stop();
    }
  });
}

async function keepDelivering(
  rack: SimulatedRack,
  modem: RackModem,
  { everyMs, work }: { everyMs: number; work: { ended: boolean } },
): Promise<void> {
  for (let count = 1; !work.ended; count += 1) {
    await rack.deliver(modem, `message ${count}`);
    await pause(everyMs, undefined, { ref: false });
  }
}
