// Which SIMs text each other in a round of probes, and which admission texts are sent now. Pure.
import type { AdmissionText } from '../store/operations/probe-admission.ts';

/** `round` counts up. There are no pairs for fewer than two SIMs. */
export function pairsOf<S>(sims: readonly S[], round: number): Array<{ sender: S; recipient: S }> {
  const count = sims.length;
  if (count < 2) return [];
  const shift = 1 + (round % (count - 1));
  return sims.map((sender, index) => ({ sender, recipient: sims[(index + shift) % count] as S }));
}

/**
 * Texts to and from SIMs of one node in 24 hours, without those for SIMs that were proven. A rack of 64 working SIMs is admitted at once;
 * of 64 broken ones each is tried every other day.
 */
const UNPROVEN_TEXTS_MAX = 32;

/** Limit of one round, so that the scheduled probes do not wait for long. */
const ROUND_MAX = 8;

/** The texts to send now. `due`: texts in the order in which their nodes want them. The node with the fewest texts today is first. */
export function inTurns(due: readonly AdmissionText[]): AdmissionText[] {
  const sent = new Map<string, number>();
  return due
    .map((text) => {
      const turn = sent.get(text.node) ?? text.unproven;
      sent.set(text.node, turn + 1);
      return { text, turn };
    })
    .filter(({ turn }) => turn < UNPROVEN_TEXTS_MAX)
    .sort((a, b) => a.turn - b.turn)
    .slice(0, ROUND_MAX)
    .map(({ text }) => text);
}
