// Words for the refusals of a node's requests.
import type { Refusals } from '../../store/fleet/node-refusals.ts';

const WORDS = {
  claims: 'of SIMs that other nodes hold',
  facts: 'of SIMs that it does not hold',
  calls: 'of SIMs that it does not hold',
  numbers: "that are no US mobile numbers, or another SIM's",
} as const;

/** One piece of text for each reason: "refused: 3 claims of SIMs that other nodes hold". */
export const shownRefusals = (refused: Refusals): string[] =>
  (Object.keys(WORDS) as Array<keyof typeof WORDS>).flatMap((reason) => {
    const count = refused[reason] ?? 0;
    const what = count === 1 ? reason.slice(0, -1) : reason;
    return count === 0 ? [] : [`refused: ${count} ${what} ${WORDS[reason]}`];
  });
