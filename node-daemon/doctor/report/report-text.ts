// Writes the report for people: the problems of each slot, then the advice, worst first.
import { findingsText, many, type TextOptions } from '#shared/operator/findings-text.ts';
import type { DoctorReport, Finding } from './report.ts';

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
