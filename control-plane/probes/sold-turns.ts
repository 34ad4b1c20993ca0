// How many sold numbers are probed now, and from which spare SIM. Pure.
import { exceededBy, type SendingLimits, type SendingUsage } from '../domain/sending-limits.ts';
import type { ProbeSim } from '../store/operations/probe-pairs.ts';
import { partnerOf } from '../store/operations/probe-trials.ts';
import type { SoldSim } from '../store/operations/sold-probes.ts';

const MINUTE_MS = 60_000;

/** Limit of one round, so that the probes of spare SIMs do not wait for long. */
const ROUND_MAX = 16;

/** After a pause, at most this many times the usual number. */
const CATCH_UP = 4;

/** The probes of `sold` numbers that are sent now, so that they are spread over the whole period. `last`: when the last one began. */
export function soldNow({
  sold,
  periodMs,
  last,
  now,
}: {
  sold: number;
  periodMs: number;
  last: Date | undefined;
  now: Date;
}): number {
  if (sold === 0) return 0;
  const usual = Math.max(1, (CATCH_UP * sold * MINUTE_MS) / periodMs);
  const passed = last === undefined ? 1 : ((now.getTime() - last.getTime()) * sold) / periodMs;
  return Math.floor(Math.min(passed, usual, ROUND_MAX));
}

/**
 * The spare SIM that texts a sold number. Not a partner with which the last probe was lost, if there is another one. Then by cost: of the
 * same carrier. Then of another node, whose evidence does not depend on the node of the number. Then the one that has sent least.
 * Undefined if each that comes into question has reached a limit of what a number may send.
 */
export function senderFor<S extends ProbeSim>(
  recipient: SoldSim,
  spares: readonly S[],
  { usage, limits }: { usage: ReadonlyMap<string, SendingUsage>; limits: SendingLimits },
): S | undefined {
  const fresh = spares.filter((spare) => !recipient.failedWith.includes(partnerOf(recipient, spare)));
  const sentBy = (spare: S): number => usage.get(spare.iccid)?.day ?? 0;
  const ranked = (fresh.length > 0 ? fresh : spares)
    .filter((spare) => mayText(usage.get(spare.iccid), limits))
    .map((spare) => ({
      spare,
      rank: [
        Number(spare.carrier !== recipient.carrier),
        Number(spare.node === recipient.node),
        sentBy(spare),
      ],
    }))
    .sort((a, b) => compare(a.rank, b.rank));
  return ranked[0]?.spare;
}

/** One recipient more, that does not answer. */
const mayText = (usage: SendingUsage | undefined, limits: SendingLimits): boolean =>
  usage === undefined ||
  exceededBy(usage, limits, { segments: 1, isNewRecipient: true, isNewRepetition: false }) === undefined;

const compare = (a: readonly number[], b: readonly number[]): number =>
  a.map((value, index) => value - (b[index] ?? 0)).find((difference) => difference !== 0) ?? 0;

/** The usage after one more text. */
export const withText = (usage: SendingUsage | undefined): SendingUsage => ({
  repeated: 0,
  received: usage?.received ?? 0,
  minute: (usage?.minute ?? 0) + 1,
  day: (usage?.day ?? 0) + 1,
  recipients: (usage?.recipients ?? 0) + 1,
});
