// The texts of the page: states with their signs, times, alarms, masked numbers.
import type { Slot, SlotState } from '#shared/link/messages.ts';

/** The health of a slot. Each value has a color and a sign. */
export type Health = 'good' | 'busy' | 'bad' | 'lost';

const HEALTH_OF_STATE: Readonly<Record<SlotState, Health>> = {
  registered: 'good',
  starting: 'busy',
  searching: 'busy',
  denied: 'bad',
  sim_absent: 'bad',
  sim_locked: 'bad',
  lost: 'lost',
};

export const SIGNS: Readonly<Record<Health, string>> = { good: '●', busy: '◐', bad: '▲', lost: '✕' };

/** Texts of the legend, in the order of importance. */
export const HEALTH_WORDS: Readonly<Record<Health, string>> = {
  good: 'in service',
  busy: 'starting or searching',
  bad: 'SIM or network problem',
  lost: 'no modem',
};

const STATE_WORDS: Readonly<Record<SlotState, string>> = {
  registered: 'registered',
  starting: 'starting',
  searching: 'searching',
  denied: 'denied',
  sim_absent: 'no SIM',
  sim_locked: 'SIM locked',
  lost: 'lost',
};

/** Returns, for example, "denied: denied_plmn". docs/operators/trouble.md lists the reasons. */
export const describedState = ({ state, reason }: Pick<Slot, 'state' | 'reason'>): string =>
  reason === null || reason === state ? STATE_WORDS[state] : `${STATE_WORDS[state]}: ${reason}`;

export const healthOf = ({ state }: Pick<Slot, 'state'>): Health => HEALTH_OF_STATE[state];

const ALARMS: Readonly<Record<string, string>> = {
  no_modem: 'No modem is plugged in.',
  modem_given_up:
    'A modem did not recover after every recovery step. Check its power and its cable, or replace it.',
  journal_unavailable:
    'The disk refuses journal writes. Messages stay on the SIMs and nothing is sent. Free disk space.',
  ports_hang: 'Ports of dead modems hang in the kernel. Unplug these modems, or restart the daemon.',
};

/** Returns the meaning of an alarm and what to do about it. Returns an unknown alarm unchanged. */
export const alarmText = (alarm: string): string => ALARMS[alarm] ?? alarm;

/** Returns the end of an ICCID, which is printed on the card and is enough to distinguish cards. */
export const maskedIccid = (iccid: string): string => `…${iccid.slice(-4)}`;

/** Returns a duration such as "< 1 min", "3 min", "2 h" or "5 d". */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return '< 1 min';
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** Returns, for example, "−71 dBm", with a real minus sign. */
export const shownDbm = (dbm: number): string => `${String(dbm).replace('-', '−')} dBm`;

/** Returns, for example, "1 slot" or "2 slots". */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;
