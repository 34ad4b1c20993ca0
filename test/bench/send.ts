// Sending from one SIM without radio delay: the daemon against a raw AT loop, then other SMS programs.
import { type Child, startChild } from './child.ts';
import { compare, perSecond } from './compare.ts';
import { LinkedDaemon } from './linked-daemon.ts';
import type { Measurement } from './report.ts';
import { SimulatedRack } from './simulated-rack.ts';
import { withTemporaryFolder } from './temporary-folder.ts';

const ROUNDS = 7;
const MESSAGES = 500;
const TO = '+15550001234';

export function benchSend(): Promise<Measurement[]> {
  return withTemporaryFolder(async (folder) => {
    const rack = await SimulatedRack.start({ folder, modems: 2 });
    const [modem, rawModem] = [rack.modem(0), rack.modem(1)];
    const daemon = await LinkedDaemon.start(folder, [modem]);
    const raw: Child = await startChild('test/bench/raw-loop.ts', { PORTS: rawModem.ports.at });
    try {
      return [
        await compare({
          name: 'sent from one SIM : raw AT loop',
          ours: () => perSecond(MESSAGES, () => daemon.sendMany(modem, TO, MESSAGES)),
          theirs: () => perSecond(MESSAGES, () => raw.ask({ send: MESSAGES, receive: 0, to: [TO] })),
          rounds: ROUNDS,
          atLeast: 0.8,
          unit: 'SMS/s',
        }),
      ];
    } finally {
      for (const child of [daemon, raw, rack]) await child.stop();
    }
  });
}
