// The report of all checks as --json prints it.
import * as z from 'zod';
import { FINDING_FIELDS, SUMMARY_FIELDS, summaryOf } from '#shared/operator/findings.ts';

/** Findings contain no phone number, ICCID or IMEI. */
const findingSchema = z.strictObject({
  ...FINDING_FIELDS,
  /** Null for a finding about the whole host. */
  slot: z.string().nullable(),
});
export type Finding = z.infer<typeof findingSchema>;

export const reportSchema = z.strictObject({
  ...SUMMARY_FIELDS,
  /** Whether doctor asked the modems through a running daemon. */
  daemon: z.enum(['running', 'not_running']),
  /** In the order of the rack. */
  slots: z.array(z.string()),
  findings: z.array(findingSchema),
});
export type DoctorReport = z.infer<typeof reportSchema>;

/** The facts after all checks. Times in ms since the Unix epoch. */
interface Examined {
  readonly findings: readonly Finding[];
  readonly slots: readonly string[];
  readonly isDaemonRunning: boolean;
  readonly beganAt: number;
  readonly endedAt: number;
}

export function doctorReportOf({ findings, slots, isDaemonRunning, ...times }: Examined): DoctorReport {
  return reportSchema.parse({
    ...summaryOf(findings, times),
    daemon: isDaemonRunning ? 'running' : 'not_running',
    slots,
    findings,
  });
}
