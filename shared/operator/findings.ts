// The findings of the commands that examine an installation (`node-daemon doctor`, `control-plane check`), and their exit codes.
import * as z from 'zod';

/** `warning`: it works but will cause trouble. `problem`: something does not work. `skipped`: the check was impossible or not needed. */
const VERDICTS = ['ok', 'warning', 'problem', 'skipped'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The result of a check. It contains nothing private, so it is safe to publish. */
export interface Outcome {
  readonly verdict: Verdict;
  /** One line. */
  readonly seen: string;
  /** Null if there is nothing to do. */
  readonly advice: string | null;
}

export const ok = (seen: string): Outcome => ({ verdict: 'ok', seen, advice: null });
export const skipped = (seen: string): Outcome => ({ verdict: 'skipped', seen, advice: null });
export const warning = (seen: string, advice: string): Outcome => ({ verdict: 'warning', seen, advice });
export const problem = (seen: string, advice: string): Outcome => ({ verdict: 'problem', seen, advice });

/** The fields that the findings of all such commands have. */
export const FINDING_FIELDS = {
  /** Name of the check, such as "relayer" or "autosuspend". */
  check: z.string(),
  verdict: z.enum(VERDICTS),
  seen: z.string(),
  advice: z.string().nullable(),
};

/** The exit codes of monitoring plugins (Nagios, Icinga), so that these can run the commands. */
export const FINDING_EXIT_CODES = { ok: 0, warning: 1, problem: 2, couldNotRun: 3 } as const;

/** The fields that the reports of all such commands have. */
export const SUMMARY_FIELDS = {
  /** The worst verdict of all findings. */
  verdict: z.enum(['ok', 'warning', 'problem']),
  /** When the examination began, ISO 8601. */
  at: z.iso.datetime(),
  duration_ms: z.int().nonnegative(),
  /** Number of findings with each verdict. */
  counts: z.strictObject({ ok: z.int(), warning: z.int(), problem: z.int(), skipped: z.int() }),
};

type Summary = z.infer<z.ZodObject<typeof SUMMARY_FIELDS>>;

/** Times in ms since the Unix epoch. */
export function summaryOf(
  findings: readonly Outcome[],
  { beganAt, endedAt }: { beganAt: number; endedAt: number },
): Summary {
  const count = (verdict: Verdict): number =>
    findings.filter((finding) => finding.verdict === verdict).length;
  const counts = {
    ok: count('ok'),
    warning: count('warning'),
    problem: count('problem'),
    skipped: count('skipped'),
  };
  return {
    verdict: counts.problem > 0 ? 'problem' : counts.warning > 0 ? 'warning' : 'ok',
    at: new Date(beganAt).toISOString(),
    duration_ms: Math.max(0, Math.round(endedAt - beganAt)),
    counts,
  };
}
