// Selects the due admission texts to send now. Pure: each node has a daily limit, and nodes take turns.
import type { AdmissionText } from '../store/operations/probe-admission.ts';

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
