// Tables for a terminal, and for the tools that read columns.
import { onOneLine } from './terminal.ts';

/**
 * Formats rows, safe for a terminal. Columns are as wide as their widest cell, two spaces apart, without trailing
 * spaces.
 */
export function alignedTable(header: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const all = [header, ...rows].map((row) => row.map(onOneLine));
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
