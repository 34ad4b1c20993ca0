// Judges a slot by its probes. Pure.
import { TRIALS_COUNTED, type Trial } from '../store/operations/probe-trials.ts';

/** `open`: not decided yet. */
type Verdict = { is: 'bad'; reason: string } | { is: 'good' } | { is: 'open' };

const WHAT_FAILED = {
  sms: { sender: 'its texts do not arrive', recipient: 'texts to it do not arrive' },
  call: { sender: 'its calls do not ring', recipient: 'calls to it do not ring' },
} as const;

export interface Partners {
  /** All partners that could probe the slot now, in the form of `Trial.partner`. */
  all: ReadonlySet<string>;
  /** Those that are other nodes; one of them may lie. */
  nodes: ReadonlySet<string>;
}

/**
 * Bad: in one kind and role the last two failed, with two partners if there are two, so that it is not the partner's fault. Good: in every
 * kind and role that was tried, the last two were delivered.
 *
 * No other node decides alone. A slot is bad only if it stays bad whichever node's trials are left out. It is good if it is good with some
 * node's trials left out. If there is only one partner, its trials decide. `trials`: newest of each kind and role first.
 */
export function verdictOf(trials: readonly Trial[], { all, nodes }: Partners): Verdict {
  const views = [...nodes].filter(() => all.size > 1).map((node) => viewWithout(node, trials, all.size - 1));
  const whole = viewOf(trials, all.size);
  for (const [key, last] of whole.last) {
    const [newest] = last;
    if (newest === undefined || last.some(({ isDelivered }) => isDelivered)) continue;
    const judging = views.length > 0 ? views : [whole];
    if (judging.every((view) => hasFailed(view, key)))
      return {
        is: 'bad',
        reason: `probe: ${TRIALS_COUNTED} failures: ${WHAT_FAILED[newest.kind][newest.role]}`,
      };
  }
  return { is: [whole, ...views].some(isGood) ? 'good' : 'open' };
}

/** The last trials of each kind and role, and the number of available partners. */
interface View {
  last: Map<string, Trial[]>;
  partners: number;
}

function viewOf(trials: readonly Trial[], partners: number): View {
  const tried = byKindAndRole(trials);
  return { last: new Map([...tried].map(([key, each]) => [key, each.slice(0, TRIALS_COUNTED)])), partners };
}

const viewWithout = (node: string, trials: readonly Trial[], partners: number): View =>
  viewOf(
    trials.filter(({ partner }) => partner !== node),
    partners,
  );

function hasFailed({ last, partners }: View, key: string): boolean {
  const trials = last.get(key) ?? [];
  const witnesses = new Set(trials.map(({ partner }) => partner)).size;
  return (
    trials.length >= TRIALS_COUNTED &&
    trials.every(({ isDelivered }) => !isDelivered) &&
    witnesses >= Math.min(partners, TRIALS_COUNTED)
  );
}

const isGood = ({ last }: View): boolean =>
  last.size > 0 &&
  [...last.values()].every(
    (trials) => trials.length >= TRIALS_COUNTED && trials.every(({ isDelivered }) => isDelivered),
  );

function byKindAndRole(trials: readonly Trial[]): Map<string, Trial[]> {
  const tried = new Map<string, Trial[]>();
  for (const trial of trials) {
    const key = `${trial.kind} ${trial.role}`;
    const known = tried.get(key);
    if (known === undefined) tried.set(key, [trial]);
    else known.push(trial);
  }
  return tried;
}

/** Whether one more slot of a carrier may leave. Half of them stay, because then the slots are not the cause. */
export const mayLeave = ({ slots, out }: { slots: number; out: number }): boolean => (out + 1) * 2 <= slots;
