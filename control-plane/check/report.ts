// The report of `control-plane check`, as --json prints it and as people read it.
import * as z from 'zod';
import { FINDING_FIELDS, SUMMARY_FIELDS, summaryOf } from '#shared/operator/findings.ts';
import { findingsText, many, type TextOptions } from '#shared/operator/findings-text.ts';

const findingSchema = z.strictObject({
  ...FINDING_FIELDS,
  /** The chain that it is about, such as "eip155:8453"; null for the whole service. */
  chain: z.string().nullable(),
});
export type Finding = z.infer<typeof findingSchema>;

export const reportSchema = z.strictObject({
  ...SUMMARY_FIELDS,
  findings: z.array(findingSchema),
});
export type CheckReport = z.infer<typeof reportSchema>;

/** Times in ms since the Unix epoch. */
export const checkReportOf = (
  findings: readonly Finding[],
  times: { beganAt: number; endedAt: number },
): CheckReport => reportSchema.parse({ ...summaryOf(findings, times), findings });

const SERVICE = 'service';

/** Ends with a newline. */
export function checkTextOf(report: CheckReport, options: TextOptions): string {
  const chains = [...new Set(report.findings.map(({ chain }) => chain))];
  const sections = chains.map((chain) => ({
    where: chain ?? SERVICE,
    head: chain ?? SERVICE,
    findings: report.findings.filter((finding) => finding.chain === chain),
  }));
  const examined = many(report.findings.length, 'check');
  return findingsText({ ...report, sections, durationMs: report.duration_ms, examined }, options);
}
