// The report of `control-plane check`, as --json prints it and as people read it.
import * as z from 'zod';
import { SUMMARY_FIELDS, summaryOf, VERDICTS } from '#shared/operator/findings.ts';
import { findingsText, many, type TextOptions } from '#shared/operator/findings-text.ts';

const findingSchema = z.strictObject({
  /** Name of the check, such as "relayer". */
  check: z.string(),
  /** The chain that it is about, such as "eip155:8453"; null for the whole service. */
  chain: z.string().nullable(),
  verdict: z.enum(VERDICTS),
  seen: z.string(),
  advice: z.string().nullable(),
});
export type Finding = z.infer<typeof findingSchema>;

export const reportSchema = z.strictObject({
  ...SUMMARY_FIELDS,
  findings: z.array(findingSchema),
});
export type Report = z.infer<typeof reportSchema>;

/** Times in ms since the Unix epoch. */
export const reportOf = (findings: readonly Finding[], times: { beganAt: number; endedAt: number }): Report =>
  reportSchema.parse({ ...summaryOf(findings, times), findings });

const SERVICE = 'service';

/** Ends with a newline. */
export function textOf(report: Report, options: TextOptions): string {
  const chains = [...new Set(report.findings.map(({ chain }) => chain))];
  const sections = chains.map((chain) => ({
    where: chain ?? SERVICE,
    head: chain ?? SERVICE,
    findings: report.findings.filter((finding) => finding.chain === chain),
  }));
  const examined = many(report.findings.length, 'check');
  return findingsText({ ...report, sections, durationMs: report.duration_ms, examined }, options);
}
