// The result of a check: the verdict, the observed facts, and the advice.
import * as z from 'zod';

/** `warning`: it works but will cause trouble. `problem`: something does not work. `skipped`: the check was impossible or not needed. */
export const VERDICTS = ['ok', 'warning', 'problem', 'skipped'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The result of a check. It contains no phone number, ICCID or IMEI, so it is safe to publish. */
export interface Outcome {
  readonly verdict: Verdict;
  /** One line. */
  readonly seen: string;
  /** Null if there is nothing to do. */
  readonly advice: string | null;
}

export const findingSchema = z.strictObject({
  /** Name of the check, such as "autosuspend": see docs/operators/doctor.md. */
  check: z.string(),
  /** Null for a finding about the whole host. */
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
