// The table of `watch`: how all slots are, as lines of a terminal. Pure.
import { type Health, SLOT_STATUS } from '#shared/operator/slot-health.ts';
import { onOneLine } from '#shared/process/terminal.ts';
import { stateText } from '../listings/slots.ts';
import type { WatchedHost, WatchedSlot } from '../slot-activity.ts';

/** The window that the lines must fit into. */
interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly isColored: boolean;
}

const HEADER = ['SLOT', 'STATE', 'OPERATOR', 'DBM', 'SIGNAL', 'CALLS', 'IN', 'OUT', 'FAIL', 'LAST EVENT'];
/** Numbers stand on the right. */
const RIGHT = new Set(['DBM', 'CALLS', 'IN', 'OUT', 'FAIL']);
const SIGNALS_SHOWN = 20;
/** Columns that are left out, first to last, where the window is too narrow for all. */
const DROPPED = ['SIGNAL', 'CALLS', 'OPERATOR', 'OUT', 'IN', 'DBM', 'FAIL'];
/** So much of the last event, a time and some words, is worth a column. */
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
    ...(hidden > 0 ? [cut(`… ${hidden + 1} more slots: make the window higher`, columns)] : []),
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
  const { alarms, is_linked: isLinked, journal_depth: depth, slots } = host;
  const link = isLinked === null ? 'no link' : isLinked ? 'linked' : 'not linked';
  const inService = slots.filter(({ state }) => state === 'registered').length;
  // Problems come first: a narrow window cuts the end off.
  return [
    timeOf(host.at),
    ...(note === '' ? [] : [note]),
    ...(alarms.length === 0 ? [] : [`alarms: ${alarms.join(', ')}`]),
    `${inService} of ${slots.length} slots in service, ${link}, ${depth} facts in the journal`,
  ].join('  ');
}

function cellsOf(slot: WatchedSlot): string[] {
  const { operator, signal_dbm: signal, signals, calls, last_event: event } = slot;
  return [
    slot.slot,
    stateText(slot),
    operator ?? '-',
    signal === null ? '-' : String(signal),
    sparkline([...signals, signal].slice(-SIGNALS_SHOWN)),
    ...[calls, slot.sms_received, slot.sms_sent, slot.sms_failed].map(String),
    event === null ? '' : `${timeOf(event.at)} ${event.text}`,
  ].map(onOneLine);
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

/** Of the clock on the wall. */
function timeOf(at: string): string {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}

const BARS = '▁▂▃▄▅▆▇█';
/** The range of +CSQ (3GPP TS 27.007 §8.5): the lowest and the highest bar. */
const WEAKEST_DBM = -113;
const STRONGEST_DBM = -51;

/** A bar for each signal in dBm; a blank where there was none. */
const sparkline = (signals: readonly (number | null)[]): string =>
  signals.map((signal) => (signal === null ? ' ' : barOf(signal))).join('');

function barOf(signal: number): string {
  const share = (signal - WEAKEST_DBM) / (STRONGEST_DBM - WEAKEST_DBM);
  const position = Math.round(share * (BARS.length - 1));
  return BARS.charAt(Math.max(0, Math.min(BARS.length - 1, position)));
}
