// The findings of the checks, the report of all of them as --json prints it, and its exit codes.
import * as z from 'zod';

/** `warning`: it works but will cause trouble. `problem`: something does not work. `skipped`: the check was impossible or not needed. */
const VERDICTS = ['ok', 'warning', 'problem', 'skipped'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The result of a check. It contains no phone number, ICCID or IMEI, so it is safe to publish. */
export interface Outcome {
  readonly verdict: Verdict;
  /** One line. */
  readonly seen: string;
  /** Null if there is nothing to do. */
  readonly advice: string | null;
}

const findingSchema = z.strictObject({
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

/** The exit codes of monitoring plugins (Nagios, Icinga), so that these can run `doctor`. */
export const EXIT_CODES = { ok: 0, warning: 1, problem: 2, couldNotRun: 3 } as const;

export const reportSchema = z.strictObject({
  /** The worst verdict of all findings. */
  verdict: z.enum(['ok', 'warning', 'problem']),
  /** When the examination began, ISO 8601. */
  at: z.iso.datetime(),
  duration_ms: z.int().nonnegative(),
  /** Whether doctor asked the modems through a running daemon. */
  daemon: z.enum(['running', 'not_running']),
  /** In the order of the rack. */
  slots: z.array(z.string()),
  /** Number of findings with each verdict. */
  counts: z.strictObject({ ok: z.int(), warning: z.int(), problem: z.int(), skipped: z.int() }),
  findings: z.array(findingSchema),
});
export type Report = z.infer<typeof reportSchema>;

/** The facts after all checks. Times in ms since the Unix epoch. */
interface Examined {
  readonly findings: readonly Finding[];
  readonly slots: readonly string[];
  readonly isDaemonRunning: boolean;
  readonly beganAt: number;
  readonly endedAt: number;
}

export function reportOf({ findings, slots, isDaemonRunning, beganAt, endedAt }: Examined): Report {
  const count = (verdict: Verdict): number =>
    findings.filter((finding) => finding.verdict === verdict).length;
  const counts = Object.fromEntries(VERDICTS.map((verdict) => [verdict, count(verdict)]));
  return reportSchema.parse({
    verdict: count('problem') > 0 ? 'problem' : count('warning') > 0 ? 'warning' : 'ok',
    at: new Date(beganAt).toISOString(),
    duration_ms: Math.max(0, Math.round(endedAt - beganAt)),
    daemon: isDaemonRunning ? 'running' : 'not_running',
    slots,
    counts,
    findings,
  });
}
