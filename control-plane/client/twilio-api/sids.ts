// Twilio's ids: two letters and 32 hexadecimal digits. Most contain the id of the service; the others are in a bounded registry.
import { createHash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';

const HEX_DIGITS = 32;

/** The oldest ids are forgotten: their calls and texts keep those that contain the service's. */
const REMEMBERED_MAX = 10_000;

export const randomSid = (prefix: 'CA' | 'SM'): string =>
  prefix + randomBytes(HEX_DIGITS / 2).toString('hex');

/** The id of an account: always the same one for a subscription. */
export const accountSidOf = (subAccountId: string): string => `AC${digest(subAccountId)}`;

/** The id of a message of the history. */
export const messageSidOf = (id: number): string => `SM${id.toString(16).padStart(HEX_DIGITS, '0')}`;

/** Undefined if it contains none. */
export function messageIdOfSid(sid: string): number | undefined {
  const id = Number.parseInt(/^SM0{16}([0-9a-f]{16})$/.exec(sid)?.[1] ?? '', 16);
  return Number.isSafeInteger(id) && id > 0 ? id : undefined;
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, HEX_DIGITS);

/** Calls that the service dials, and calls that a node reports. */
const DIALED = /^call_([0-9a-f]{24})$/;
const REPORTED = /^call_([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})$/;

/** A UUID does not begin with it. */
const DIALED_MARK = '00000000';

/** The ids of calls: given ones, and derived ones. */
export class CallSids {
  readonly #sids = new LRUCache<string, string>({ max: REMEMBERED_MAX });
  readonly #callIds = new LRUCache<string, string>({ max: REMEMBERED_MAX });

  /** From now on the call has this id. */
  give(callId: string, sid: string): void {
    this.#sids.set(callId, sid);
    this.#callIds.set(sid, callId);
  }

  of(callId: string): string {
    const given = this.#sids.get(callId);
    if (given !== undefined) return given;
    const dialed = DIALED.exec(callId)?.[1];
    if (dialed !== undefined) return `CA${DIALED_MARK}${dialed}`;
    const reported = REPORTED.exec(callId)?.slice(1).join('');
    if (reported !== undefined) return `CA${reported}`;
    const sid = `CA${digest(callId)}`;
    this.give(callId, sid);
    return sid;
  }

  /** `sid` may also be the service's own id. Undefined if it is neither. */
  callIdOf(sid: string): string | undefined {
    const given = this.#callIds.get(sid);
    if (given !== undefined) return given;
    if (DIALED.test(sid) || REPORTED.test(sid)) return sid;
    const [, dialed] = /^CA0{8}([0-9a-f]{24})$/.exec(sid) ?? [];
    if (dialed !== undefined) return `call_${dialed}`;
    const groups = /^CA([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(sid);
    return groups === null ? undefined : `call_${groups.slice(1).join('-')}`;
  }
}
