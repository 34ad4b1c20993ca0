// Writes findings for people: those of each part of the installation, then the advice, worst first.
import { styleText } from 'node:util';
import { onLines, onOneLine } from '../process/terminal.ts';
import type { Outcome, Verdict } from './findings.ts';

const SIGNS: Readonly<Record<Verdict, string>> = {
  ok: 'ok',
  warning: 'warning',
  problem: 'PROBLEM',
  skipped: '-',
};
const COLOURS = { ok: 'green', warning: 'yellow', problem: 'red', skipped: 'gray' } as const;
const SIGN_WIDTH = 8;

export interface TextOptions {
  readonly hasColour: boolean;
  /** Also show the checks that passed or were skipped. */
  readonly isVerbose: boolean;
}

interface NamedOutcome extends Outcome {
  readonly check: string;
}

/** One part of the installation. */
interface Section {
  /** Name of the part in the advice. */
  readonly where: string;
  readonly head: string;
  readonly findings: readonly NamedOutcome[];
}

interface FindingsText {
  readonly sections: readonly Section[];
  readonly verdict: Verdict;
  readonly counts: Readonly<Record<Verdict, number>>;
  readonly durationMs: number;
  /** The subject of the examination, such as "16 checks", for the last line. */
  readonly examined: string;
}

/** Ends with a newline. */
export function findingsText(
  { sections, verdict, counts, durationMs, examined }: FindingsText,
  { hasColour, isVerbose }: TextOptions,
): string {
  const paint = (as: Verdict, text: string): string =>
    hasColour ? styleText(COLOURS[as], text, { validateStream: false }) : text;
  const all = sections.flatMap(({ findings }) => findings);
  const width = Math.max(...all.map(({ check }) => check.length));
  const sign = (as: Verdict): string => paint(as, SIGNS[as].padEnd(SIGN_WIDTH));
  const parts = sections.map(({ head, findings }) => {
    const shown = findings.filter(
      (each) => isVerbose || each.verdict === 'warning' || each.verdict === 'problem',
    );
    const lines = shown.map(
      ({ check, seen, verdict: as }) => `  ${sign(as)} ${check.padEnd(width)}  ${onOneLine(seen)}`,
    );
    return [onOneLine(head), ...lines].join('\n');
  });
  const advice = adviceOf(sections).map(
    ({ where, check, what, verdict: as, seen }) =>
      `  ${sign(as)} ${onOneLine(`${where} ${check}: ${seen}`)}\n           ${onLines(what)}`,
  );
  return [
    parts.join('\n'),
    ...(advice.length === 0 ? [] : [['what to do', ...advice].join('\n')]),
    `${paint(verdict, `${examined}: ${totalOf(counts)} (${(durationMs / 1000).toFixed(1)} s)`)}\n`,
  ].join('\n\n');
}

interface Advice {
  readonly verdict: Verdict;
  readonly where: string;
  readonly check: string;
  readonly seen: string;
  readonly what: string;
}

/** Returns the advice on problems, then on warnings. The same advice for several parts comes once. */
function adviceOf(sections: readonly Section[]): Advice[] {
  const groups = new Map<string, { first: NamedOutcome; where: string[] }>();
  for (const { where, findings } of sections)
    for (const finding of findings) {
      if (finding.advice === null) continue;
      const key = `${finding.check} ${finding.verdict} ${finding.advice}`;
      const group = groups.get(key) ?? { first: finding, where: [] };
      group.where.push(where);
      groups.set(key, group);
    }
  const all = [...groups.values()].map(({ first, where }): Advice => {
    const { advice, check, seen, verdict } = first;
    return { verdict, check, seen, where: where.join(', '), what: advice ?? '' };
  });
  return [
    ...all.filter(({ verdict }) => verdict === 'problem'),
    ...all.filter(({ verdict }) => verdict !== 'problem'),
  ];
}

export const many = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;

const totalOf = ({ problem, warning }: Readonly<Record<Verdict, number>>): string =>
  problem + warning === 0 ? 'nothing to do' : `${many(problem, 'problem')}, ${many(warning, 'warning')}`;
