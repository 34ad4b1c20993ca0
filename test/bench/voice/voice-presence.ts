// How long a ring takes from the node's frame to the clients that watch, with a thousand of them.
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import type { Measurement } from '../report.ts';
import { type PresenceWatch, ringMeasurements, ringTimes, watchPresence } from './presence-watch.ts';
import { startVoiceService, type VoiceService } from './voice-service.ts';

const SOCKETS = 1_000;
const NUMBERS = 100;
const RINGS_A_ROUND = 100;
const RINGS_OF_ALL = 10;

export async function benchVoicePresence(): Promise<Measurement[]> {
  const plane = await startVoiceService(NUMBERS);
  const { line } = plane;
  try {
    const spread = await watch(plane, (index) => index % NUMBERS);
    const few = await ringTimes(line, spread, {
      name: 'few',
      rings: RINGS_A_ROUND,
      perRing: SOCKETS / NUMBERS,
      iccidOf: (ring) => slotAt((ring % NUMBERS) + 1).iccid,
    });
    spread.stop();
    const one = await watch(plane, () => 0);
    const all = await ringTimes(line, one, {
      name: 'one',
      rings: RINGS_OF_ALL,
      perRing: SOCKETS,
      iccidOf: () => slotAt(1).iccid,
    });
    one.stop();
    const remark = `${SOCKETS} sockets open, ${SOCKETS / NUMBERS} a number`;
    return [
      ...ringMeasurements('ring → client', few, { remark, targets: [5, 25] }),
      ...ringMeasurements('ring → each of 1000 clients of one number', all, {
        remark: 'clients are one process',
        targets: [undefined, 4],
      }),
    ];
  } finally {
    await plane.stop();
  }
}

function watch({ url, accounts }: VoiceService, numberOf: (index: number) => number): Promise<PresenceWatch> {
  const clients = Array.from({ length: SOCKETS }, (_, index) => {
    const account = accounts[numberOf(index)];
    if (account === undefined) throw new Error('too few accounts');
    return { url, account };
  });
  return watchPresence(clients);
}
