// Markdown as the reference pages need it: tables, anchors, code.

/** Text as one cell of a table. Braces and angle brackets outside of code would be read as templates and HTML by the site. */
function cell(text: string): string {
  const parts = text.replace(/\s*\n\s*/g, ' ').split(/(`[^`]*`)/);
  return parts
    .map((part) =>
      part.startsWith('`')
        ? part.replaceAll('|', '\\|')
        : part
            .replaceAll('|', '\\|')
            .replace(/<(?!br>)/g, '&lt;')
            .replaceAll('{{', '&#123;&#123;'),
    )
    .join('');
}

/** Text as a paragraph: the same escapes, without those of tables. */
export const paragraph = (text: string): string => cell(text).replaceAll('\\|', '|');

/** A table. Columns that are empty in all rows are left out. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const isUsed = (at: number): boolean => rows.some((row) => (row[at] ?? '') !== '');
  const kept = head.flatMap((_, at) => (isUsed(at) ? [at] : []));
  const line = (cells: readonly string[]): string => `| ${kept.map((at) => cells[at] ?? '').join(' | ')} |`;
  return [
    line(head),
    line(head.map(() => '---')),
    ...rows.map((row) => line(row.map((text) => cell(text)))),
  ].join('\n');
}

export const code = (text: string): string => `\`${text}\``;

/** Several values, each as code. */
export const codes = (values: Iterable<string | number>): string =>
  [...values].map((value) => code(String(value))).join(', ');

export const block = (language: string, text: string): string =>
  `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;

/** "10 s", "2 min", "5000000": a time as people write it. */
export function shownMs(ms: number): string {
  if (ms !== 0 && ms % 86_400_000 === 0) return counted(ms / 86_400_000, 'day');
  if (ms !== 0 && ms % 3_600_000 === 0) return `${ms / 3_600_000} h`;
  if (ms !== 0 && ms % 60_000 === 0) return `${ms / 60_000} min`;
  if (ms !== 0 && ms % 1_000 === 0) return `${ms / 1_000} s`;
  return `${ms} ms`;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** 1000000 as "1,000,000". */
export const shownNumber = (value: number): string => new Intl.NumberFormat('en-US').format(value);

/** First letter large, and a full stop where the text ends without one. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') return '';
  // Names such as x402 and values such as "yes:" stay as they are.
  const isWord = /^[a-z]+(?=[\s,.;]|$)/.test(trimmed);
  const large = isWord ? trimmed.slice(0, 1).toUpperCase() + trimmed.slice(1) : trimmed;
  return /[.!?:]$/.test(large) ? large : `${large}.`;
}
