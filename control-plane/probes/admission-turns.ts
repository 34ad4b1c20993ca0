// Which of the texts that are due to prove numbers are sent now. Pure: a node is bounded by the day, and nodes take turns.
import type { AdmissionText } from '../store/operations/probe-admission.ts';

/**
 * Texts to and from SIMs of one node in 24 hours, without those of SIMs that they proved. A rack of 64 working SIMs is admitted
 * at once; of 64 broken ones each is tried every other day.
 */
export const UNPROVEN_TEXTS_MAX = 32;

/** Of one round, so that the scheduled probes do not wait for long. */
const ROUND_MAX = 8;

/** Those to send now, of texts in the order in which their nodes want them. The node with the fewest texts today is first. */
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
