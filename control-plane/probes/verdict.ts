// What probes say of a slot. Pure.
import { TRIALS_COUNTED, type Trial } from '../store/probe-trials.ts';

/** `open`: neither one nor the other yet. */
export type Verdict = { is: 'bad'; reason: string } | { is: 'good' } | { is: 'open' };

const WHAT_FAILED = {
  sms: { sender: 'its texts do not arrive', recipient: 'texts to it do not arrive' },
  call: { sender: 'its calls do not ring', recipient: 'calls to it do not ring' },
} as const;

/**
 * Bad: in one kind and role the last two failed, with two partners where there are two, so that it is not the partner's fault.
 * Good: in every kind and role that was tried the last two were delivered. `trials`: the newest of each first.
 */
export function verdictOf(trials: readonly Trial[], partners: number): Verdict {
  const tried = byKindAndRole(trials);
  for (const last of tried) {
    const [newest] = last;
    if (newest === undefined || last.length < TRIALS_COUNTED || last.some(({ isDelivered }) => isDelivered))
      continue;
    const isShared = new Set(last.map(({ partner }) => partner)).size < Math.min(partners, TRIALS_COUNTED);
    if (!isShared)
      return {
        is: 'bad',
        reason: `probe: ${last.length} failures: ${WHAT_FAILED[newest.kind][newest.role]}`,
      };
  }
  const isGood = tried.every(
    (last) => last.length >= TRIALS_COUNTED && last.every(({ isDelivered }) => isDelivered),
  );
  return tried.length > 0 && isGood ? { is: 'good' } : { is: 'open' };
}

function byKindAndRole(trials: readonly Trial[]): Trial[][] {
  const tried = new Map<string, Trial[]>();
  for (const trial of trials) {
    const key = `${trial.kind} ${trial.role}`;
    tried.set(key, [...(tried.get(key) ?? []), trial]);
  }
  return [...tried.values()];
}

/** Whether one more slot of a carrier may leave: half of them stay, for then it is not the slots. */
export const mayLeave = ({ slots, out }: { slots: number; out: number }): boolean => (out + 1) * 2 <= slots;
