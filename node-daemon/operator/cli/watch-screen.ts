// The table of `watch`: how all slots are, as lines of a terminal. Pure.
import type { Cell, View } from '#shared/operator/listing.ts';
import { type Health, SLOT_STATUS } from '#shared/operator/slot-health.ts';
import { onOneLine } from '#shared/process/terminal.ts';
import { LINK_WORDS } from '../../link/control-link.ts';
import { timeOf, WATCHED_SLOTS } from '../listings/watched-slots.ts';
import type { WatchedHost, WatchedSlot } from '../slot-activity.ts';

/** The window that the lines must fit into. */
interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly isColored: boolean;
}

const HEADER = WATCHED_SLOTS.columns.map(({ title }) => title.toUpperCase());
/** The columns do not depend on it. */
const VIEW: View = { isFull: true, nowMs: 0 };
/** Numbers stand on the right. */
const RIGHT = new Set(['DBM', 'CALLS', 'IN', 'OUT', 'FAIL']);
/** Columns that are left out, first to last, where the window is too narrow for all. */
const DROPPED = ['SIGNAL', 'CALLS', 'CARRIER', 'OUT', 'IN', 'DBM', 'FAIL'];
/** The column of the last event needs this width, for a time and some words. */
const EVENT_WIDTH = 24;
const BETWEEN = 2;

const RED = 31;
const GREEN = 32;
const YELLOW = 33;
const COLORS: Readonly<Record<Health, number>> = {
  good: GREEN,
  busy: GREEN,
  warn: YELLOW,
  bad: RED,
  off: YELLOW,
};

/** The whole screen; `note` is a message about the daemon for the operator. No line is longer than the window is wide. */
export function watchScreen(host: WatchedHost | undefined, note: string, screen: Screen): string[] {
  const { columns, rows } = screen;
  const head = cut(headOf(host, note), columns);
  const slots = host?.slots ?? [];
  const all = slots.map(cellsOf);
  const shownColumns = columnsFor(all, columns);
  const names = shownColumns.map(({ name }) => name);
  const lines = all.map((row, index) => {
    const cells = shownColumns.map(({ position }) => row[position] ?? '');
    const line = cut(aligned(cells, shownColumns), columns);
    return colored(line, slots[index], shownColumns, screen);
  });
  const room = Math.max(1, rows - 2);
  const hidden = lines.length - room;
  const shown = hidden > 0 ? lines.slice(0, room - 1) : lines;
  return [
    head,
    cut(aligned(names, shownColumns), columns),
    ...shown,
    ...(hidden > 0 ? [cut(`… ${hidden + 1} more slots: make the window taller`, columns)] : []),
  ].slice(0, rows);
}

interface Column {
  readonly name: string;
  /** In a row of all cells. */
  readonly position: number;
  readonly width: number;
}

/** Those that fit into the window, the last event at least with its beginning. */
function columnsFor(rows: readonly (readonly string[])[], windowWidth: number): Column[] {
  const all = HEADER.map((name, position) => ({
    name,
    position,
    width: Math.max(name.length, ...rows.map((row) => [...(row[position] ?? '')].length)),
  }));
  const widthOf = (columns: readonly Column[]): number =>
    columns.reduce(
      (sum, { name, width }) =>
        sum + BETWEEN + (name === 'LAST EVENT' ? Math.min(width, EVENT_WIDTH) : width),
      -BETWEEN,
    );
  return DROPPED.reduce<Column[]>(
    (columns, dropped) =>
      widthOf(columns) <= windowWidth ? columns : columns.filter(({ name }) => name !== dropped),
    all,
  );
}

/** One line for a change in a slot, for outputs that are not terminals. */
export function watchLine(at: string, slot: WatchedSlot): string {
  const [name = '', state = '', operator = '', dbm = ''] = cellsOf(slot);
  const event = slot.last_event === null ? '' : `  ${slot.last_event.text}`;
  return `${at}  ${name}  ${state}  ${operator}  ${dbm}${event}`.trimEnd();
}

function headOf(host: WatchedHost | undefined, note: string): string {
  if (host === undefined) return note;
  const { alarms, journal_depth: depth, link, slots } = host;
  const inService = slots.filter(({ state }) => state === 'registered').length;
  // Problems come first: a narrow window cuts the end off.
  return [
    timeOf(host.at),
    ...(note === '' ? [] : [note]),
    ...(alarms.length === 0 ? [] : [`alarms: ${alarms.join(', ')}`]),
    `${inService} of ${slots.length} slots in service, ${link === null ? 'no daemon' : LINK_WORDS[link]}, ${depth} facts in the journal`,
  ].join('  ');
}

const cellsOf = (slot: WatchedSlot): string[] =>
  WATCHED_SLOTS.columns.map(({ cell }) => onOneLine(textOf(cell(slot, VIEW))));

/** An event that is missing is an empty text, and a value a dash. */
function textOf(cell: Cell): string {
  if (cell === null) return '-';
  if (typeof cell === 'string') return cell;
  return 'time' in cell ? (cell.time ?? '-') : cell.text;
}

const aligned = (row: readonly string[], columns: readonly Column[]): string =>
  row
    .map((cell, index) => {
      const { name = '', width = 0 } = columns[index] ?? {};
      const blanks = ' '.repeat(Math.max(0, width - [...cell].length));
      return RIGHT.has(name) ? blanks + cell : cell + blanks;
    })
    .join(' '.repeat(BETWEEN))
    .trimEnd();

const cut = (line: string, columns: number): string => [...onOneLine(line)].slice(0, columns).join('');

/** The state's cell has a color. */
function colored(
  line: string,
  slot: WatchedSlot | undefined,
  [name, state]: readonly Column[],
  { isColored }: Screen,
): string {
  if (!isColored || slot === undefined) return line;
  const from = (name?.width ?? 0) + BETWEEN;
  const stateWidth = state?.width ?? 0;
  const characters = [...line];
  const part = (start: number, end?: number): string => characters.slice(start, end).join('');
  return `${part(0, from)}\u001b[${COLORS[SLOT_STATUS[slot.state].health]}m${part(from, from + stateWidth)}\u001b[0m${part(from + stateWidth)}`;
}
