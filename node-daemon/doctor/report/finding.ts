// What a check says: how it is, what was seen, and what to do about it.
import * as z from 'zod';

/** `warning`: it works, and will hurt. `problem`: something does not work. `skipped`: it could not, or need not, be looked at. */
export const VERDICTS = ['ok', 'warning', 'problem', 'skipped'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** What a check found. Without numbers of subscribers, cards and modems: it may be shown to anybody. */
export interface Outcome {
  readonly verdict: Verdict;
  /** One line. */
  readonly seen: string;
  /** What to do; null where there is nothing. */
  readonly advice: string | null;
}

export const findingSchema = z.strictObject({
  /** Name of the check, such as "autosuspend": see docs/operators/doctor.md. */
  check: z.string(),
  /** Null for what is about the whole host. */
  slot: z.string().nullable(),
  verdict: z.enum(VERDICTS),
  seen: z.string(),
  advice: z.string().nullable(),
});
export type Finding = z.infer<typeof findingSchema>;

export const ok = (seen: string): Outcome => ({ verdict: 'ok', seen, advice: null });
export const skipped = (seen: string): Outcome => ({ verdict: 'skipped', seen, advice: null });
export const warning = (seen: string, advice: string): Outcome => ({ verdict: 'warning', seen, advice });
export const problem = (seen: string, advice: string): Outcome => ({ verdict: 'problem', seen, advice });
