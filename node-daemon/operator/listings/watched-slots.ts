// The list of this host's slots with what happens in them, for an operator who watches.
import type { Column, Listing } from '#shared/operator/listing.ts';
import type { WatchedSlot } from '../slot-activity.ts';
import { SLOTS } from './slots.ts';

const SIGNALS_SHOWN = 20;
const FIRST = ['Slot', 'State', 'Carrier'];

const count = (title: string, of: (slot: WatchedSlot) => number): Column<WatchedSlot> => ({
  title,
  cell: (slot) => String(of(slot)),
});

export const WATCHED_SLOTS: Listing<WatchedSlot> = {
  name: SLOTS.name,
  title: SLOTS.title,
  empty: SLOTS.empty,
  columns: [
    ...SLOTS.columns.filter(({ title }) => FIRST.includes(title)),
    { title: 'dBm', cell: ({ signal_dbm: signal }) => (signal === null ? null : String(signal)) },
    {
      title: 'Signal',
      cell: ({ signals, signal_dbm: signal }) => sparkline([...signals, signal].slice(-SIGNALS_SHOWN)),
    },
    count('Calls', ({ calls }) => calls),
    count('In', ({ sms_received: received }) => received),
    count('Out', ({ sms_sent: sent }) => sent),
    count('Fail', ({ sms_failed: failed }) => failed),
    {
      title: 'Last event',
      cell: ({ last_event: event }) => (event === null ? '' : `${timeOf(event.at)} ${event.text}`),
    },
  ],
};

/** Local time of day. */
export function timeOf(at: string): string {
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
