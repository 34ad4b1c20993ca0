// The report of all findings, as --json prints it, and its exit codes.
import * as z from 'zod';
import { type Finding, findingSchema, VERDICTS, type Verdict } from './finding.ts';

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
