// The report of all checks, as --json prints it and as people read it: the problems of each slot, then the advice, worst first.
import * as z from 'zod';
import { FINDING_FIELDS, SUMMARY_FIELDS, summaryOf } from '#shared/operator/findings.ts';
import { findingsText, many, type TextOptions } from '#shared/operator/findings-text.ts';

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

const HOST = 'this host';

/** Ends with a newline. */
export function doctorTextOf(report: DoctorReport, options: TextOptions): string {
  const { slots, duration_ms: durationMs } = report;
  const sections = [null, ...slots].map((slot) => {
    const findings = report.findings.filter((finding) => finding.slot === slot);
    const name = slot === null ? HOST : `slot ${slot}`;
    const head = [name, gistOf(findings)].filter((part) => part !== '').join(': ');
    return { where: slot ?? HOST, head, findings };
  });
  return findingsText({ ...report, sections, durationMs, examined: many(slots.length, 'slot') }, options);
}

/** The findings that describe a slot in one line. */
const GIST = new Set(['profile', 'registration', 'signal', 'data_folder', 'modems']);

function gistOf(findings: readonly Finding[]): string {
  const described = findings.filter(({ check, verdict }) => GIST.has(check) && verdict === 'ok');
  const gist = described.map(({ seen }) => seen.replace(/; .*$/, ''));
  const unwell = findings.some(({ verdict }) => verdict === 'problem' || verdict === 'warning');
  const isUnexamined = findings.some(({ check, verdict }) => check === 'port' && verdict === 'skipped');
  return [unwell ? [] : [isUnexamined ? 'not examined' : 'ok'], gist].flat().join(', ');
}
