// The texts of the page: states with their signs, times, alarms, masked numbers.
import { isNodeAlarm, NODE_ALARMS } from '#shared/operator/node-alarms.ts';
import { HEALTH_STATUS, SLOT_STATUS } from '#shared/operator/slot-health.ts';
import { stateWithReason } from '#shared/operator/slot-reasons.ts';
import type { ShownSlot } from '../host/shown-slots.ts';

/** The look of a slot: a color and a sign. A slot without a modem looks different from a modem with a problem. */
export type Look = 'good' | 'warn' | 'bad' | 'lost';

export const SIGNS: Readonly<Record<Look, string>> = { good: '●', warn: '◐', bad: '▲', lost: '✕' };

/** Texts of the legend, in the order of importance. */
export const LOOK_WORDS: Readonly<Record<Look, string>> = {
  good: HEALTH_STATUS.good.words,
  warn: HEALTH_STATUS.warn.words,
  bad: HEALTH_STATUS.bad.words,
  lost: SLOT_STATUS.lost.words,
};

/** Returns, for example, "refused by the network: no roaming, and only foreign networks are in reach". */
export const describedState = ({ state, reason }: Pick<ShownSlot, 'state' | 'reason'>): string =>
  stateWithReason(SLOT_STATUS[state].words, state, reason);

export function lookOf({ state }: Pick<ShownSlot, 'state'>): Look {
  if (state === 'lost') return 'lost';
  const { health } = SLOT_STATUS[state];
  return health === 'good' || health === 'warn' ? health : 'bad';
}

/** Returns the meaning of an alarm and what to do about it. Returns an unknown alarm unchanged. */
export function alarmText(alarm: string): string {
  if (!isNodeAlarm(alarm)) return alarm;
  const { advice, means } = NODE_ALARMS[alarm];
  return `${means.charAt(0).toUpperCase()}${means.slice(1)}. ${advice}`;
}

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
