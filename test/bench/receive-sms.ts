// Receiving on one modem, from the air to a fact and the deletion: the daemon against a raw AT loop.
import { startChild } from './child.ts';
import { compare, perSecond } from './compare.ts';
import { LinkedDaemon } from './linked-daemon.ts';
import type { Measurement } from './report.ts';
import { SimulatedRack } from './simulated-rack.ts';
import { withTemporaryFolder } from './temporary-folder.ts';

const ROUNDS = 7;
const MESSAGES = 500;

export function benchReceiveSms(): Promise<Measurement[]> {
  return withTemporaryFolder(async (folder) => {
    const rack = await SimulatedRack.start({ folder, modems: 2 });
    const [modem, rawModem] = [rack.modem(0), rack.modem(1)];
    const daemon = await LinkedDaemon.start(folder, [modem]);
    const raw = await startChild('test/bench/raw-loop.ts', { PORTS: rawModem.ports.at });
    const ours = async (): Promise<number> => {
      await rack.holdBack(modem, MESSAGES);
      const before = daemon.receivedCount;
      return perSecond(MESSAGES, async () => {
        await rack.release(modem);
        await daemon.receivedAtLeast(before + MESSAGES);
        await rack.emptied([modem]);
      });
    };
    const theirs = async (): Promise<number> => {
      await rack.holdBack(rawModem, MESSAGES);
      const work = raw.ask({ send: 0, receive: MESSAGES, to: [] });
      return perSecond(MESSAGES, async () => {
        await rack.release(rawModem);
        await work;
        await rack.emptied([rawModem]);
      });
    };
    try {
      return [
        await compare({
          name: 'received by one SIM : raw AT loop',
          ...{ ours, theirs, rounds: ROUNDS, atLeast: 0.8, unit: 'SMS/s' },
        }),
      ];
    } finally {
      for (const child of [daemon, raw, rack]) await child.stop();
    }
  });
}
