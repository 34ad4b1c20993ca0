// Writes the report for people: the problems of each slot, then the advice, worst first.
import { styleText } from 'node:util';
import { onLines, onOneLine } from '#shared/process/terminal.ts';
import type { Finding, Report, Verdict } from './report.ts';

const SIGNS: Readonly<Record<Verdict, string>> = {
  ok: 'ok',
  warning: 'warning',
  problem: 'PROBLEM',
  skipped: '-',
};
const COLOURS = { ok: 'green', warning: 'yellow', problem: 'red', skipped: 'gray' } as const;
const SIGN_WIDTH = 8;
const HOST = 'this host';

interface TextOptions {
  readonly hasColour: boolean;
  /** Also show the checks that passed or were skipped. */
  readonly isVerbose: boolean;
}

/** Ends with a newline. */
export function textOf(report: Report, { hasColour, isVerbose }: TextOptions): string {
  const paint = (verdict: Verdict, text: string): string =>
    hasColour ? styleText(COLOURS[verdict], text, { validateStream: false }) : text;
  const width = Math.max(...report.findings.map(({ check }) => check.length));
  const line = ({ check, seen, verdict }: Finding): string =>
    `  ${paint(verdict, SIGNS[verdict].padEnd(SIGN_WIDTH))} ${check.padEnd(width)}  ${onOneLine(seen)}`;
  const sections = [null, ...report.slots].map((slot) => {
    const findings = report.findings.filter((finding) => finding.slot === slot);
    const shown = findings.filter(
      ({ verdict }) => isVerbose || verdict === 'warning' || verdict === 'problem',
    );
    const head = slot === null ? HOST : `slot ${slot}`;
    return [
      [onOneLine(head), onOneLine(gistOf(findings))].filter((part) => part !== '').join(': '),
      ...shown.map(line),
    ].join('\n');
  });
  const advice = adviceOf(report.findings).map(
    ({ where, what, verdict, seen }) =>
      `  ${paint(verdict, SIGNS[verdict].padEnd(SIGN_WIDTH))} ${onOneLine(`${where}: ${seen}`)}\n           ${onLines(what)}`,
  );
  return [
    sections.join('\n'),
    ...(advice.length === 0 ? [] : [['what to do', ...advice].join('\n')]),
    `${paint(report.verdict, summaryOf(report))}\n`,
  ].join('\n\n');
}

/** The findings that describe a slot in one line. */
const GIST = new Set(['profile', 'registration', 'signal', 'data_folder', 'modems']);

function gistOf(findings: readonly Finding[]): string {
  const described = findings.filter(({ check, verdict }) => GIST.has(check) && verdict === 'ok');
  const gist = described.map(({ seen }) => seen.replace(/; .*$/, ''));
  const unwell = findings.some(({ verdict }) => verdict === 'problem' || verdict === 'warning');
  return [unwell ? [] : ['ok'], gist].flat().join(', ');
}

interface Advice {
  readonly verdict: Verdict;
  readonly where: string;
  readonly seen: string;
  readonly what: string;
}

/** Returns the advice on problems, then on warnings. The same advice for several slots comes once. */
function adviceOf(findings: readonly Finding[]): Advice[] {
  const groups = new Map<string, { first: Finding; where: string[] }>();
  for (const finding of findings) {
    if (finding.advice === null) continue;
    const key = `${finding.check} ${finding.verdict} ${finding.advice}`;
    const group = groups.get(key) ?? { first: finding, where: [] };
    group.where.push(finding.slot ?? HOST);
    groups.set(key, group);
  }
  const all = [...groups.values()].map(({ first, where }): Advice => {
    const { advice, seen, verdict } = first;
    return { verdict, seen, where: where.join(', '), what: advice ?? '' };
  });
  return [
    ...all.filter(({ verdict }) => verdict === 'problem'),
    ...all.filter(({ verdict }) => verdict !== 'problem'),
  ];
}

function summaryOf({ counts, duration_ms: durationMs, slots }: Report): string {
  const many = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
  const found =
    counts.problem + counts.warning === 0
      ? 'nothing to do'
      : `${many(counts.problem, 'problem')}, ${many(counts.warning, 'warning')}`;
  return `${many(slots.length, 'slot')}: ${found} (${(durationMs / 1000).toFixed(1)} s)`;
}
