// The table of `watch`: how all slots are, as lines of a terminal. Pure.
import { onOneLine } from '#shared/process/terminal.ts';
import type { WatchedHost, WatchedSlot } from './desk.ts';
import { sparkline } from './sparkline.ts';

/** What the lines are to fit into. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly isColored: boolean;
}

const HEADER = ['SLOT', 'STATE', 'OPERATOR', 'DBM', 'SIGNAL', 'CALLS', 'IN', 'OUT', 'FAIL', 'LAST EVENT'];
/** Numbers stand on the right. */
const RIGHT = new Set(['DBM', 'CALLS', 'IN', 'OUT', 'FAIL']);
const SIGNALS_SHOWN = 20;

const RED = 31;
const GREEN = 32;
const YELLOW = 33;
const STATE_COLORS: Readonly<Record<WatchedSlot['state'], number>> = {
  ...{ registered: GREEN, starting: YELLOW, searching: YELLOW },
  ...{ denied: RED, lost: RED, sim_absent: RED, sim_locked: RED },
};

/** The whole screen; `note` is what the operator should know of the daemon. */
export function watchScreen(host: WatchedHost | undefined, note: string, screen: Screen): string[] {
  const { columns, rows } = screen;
  const head = cut(headOf(host, note), columns);
  const slots = host?.slots ?? [];
  const cells = slots.map(cellsOf);
  const widths = HEADER.map((name, column) =>
    Math.max(name.length, ...cells.map((row) => [...(row[column] ?? '')].length)),
  );
  const lines = cells.map((row, index) => {
    const line = cut(aligned(row, widths), columns);
    return colored(line, slots[index], widths, screen);
  });
  const room = Math.max(1, rows - 2);
  const hidden = lines.length - room;
  const shown = hidden > 0 ? lines.slice(0, room - 1) : lines;
  return [
    head,
    cut(aligned(HEADER, widths), columns),
    ...shown,
    ...(hidden > 0 ? [cut(`… ${hidden + 1} more slots: make the window higher`, columns)] : []),
  ].slice(0, rows);
}

/** One line for what has changed in a slot, for what is no terminal. */
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
  return [
    `${timeOf(host.at)}  ${inService} of ${slots.length} slots in service, ${link}, ${depth} facts in the journal`,
    ...(alarms.length === 0 ? [] : [`alarms: ${alarms.join(', ')}`]),
    ...(note === '' ? [] : [note]),
  ].join('  ');
}

function cellsOf(slot: WatchedSlot): string[] {
  const { state, reason, operator, signal_dbm: signal, signals, calls, last_event: event } = slot;
  return [
    ...[slot.slot, reason === null ? state : `${state} (${reason})`, operator ?? '-'],
    ...[signal === null ? '-' : String(signal), sparkline([...signals, signal].slice(-SIGNALS_SHOWN))],
    ...[calls, slot.sms_received, slot.sms_sent, slot.sms_failed].map(String),
    event === null ? '' : `${timeOf(event.at)} ${event.text}`,
  ].map(onOneLine);
}

const aligned = (row: readonly string[], widths: readonly number[]): string =>
  row
    .map((cell, column) => {
      const blanks = ' '.repeat(Math.max(0, (widths[column] ?? 0) - [...cell].length));
      return RIGHT.has(HEADER[column] ?? '') ? blanks + cell : cell + blanks;
    })
    .join('  ')
    .trimEnd();

const cut = (line: string, columns: number): string => [...line].slice(0, columns).join('');

/** The state's cell has a colour. */
function colored(
  line: string,
  slot: WatchedSlot | undefined,
  [nameWidth = 0, stateWidth = 0]: readonly number[],
  { isColored }: Screen,
): string {
  if (!isColored || slot === undefined) return line;
  const from = nameWidth + 2;
  const characters = [...line];
  const part = (start: number, end?: number): string => characters.slice(start, end).join('');
  return `${part(0, from)}\u001b[${STATE_COLORS[slot.state]}m${part(from, from + stateWidth)}\u001b[0m${part(from + stateWidth)}`;
}

/** Of the clock on the wall. */
function timeOf(at: string): string {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}
