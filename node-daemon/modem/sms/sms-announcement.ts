// Reads the modem's announcements of messages: a place, a message without a known place, or the message itself. Pure.
import { fieldsOf, integerField } from '../../at/fields.ts';
import type { Urc } from '../../at/urc.ts';
import { UNION_STORAGE } from './sms-storage.ts';

/** The place of an announced message. */
export interface Announced {
  readonly storage: string;
  readonly index: number;
}

/** +CMTI for messages, +CDSI for reports, and some modems +CDSI for both (3GPP TS 27.005 §3.4.1). */
const STORED = /^\+(?:CMTI|CDSI):/;
/** +CLASS0: a flash message, which some modems forward directly with any AT+CNMI. */
const DIRECT = /^\+(?:CMT|CDS|CLASS0):/;

/**
 * Returns the announcement in a line: the place of a message, `somewhere` (some firmware sends index -1 or no storage if it could not
 * store the message), or none. `swept`: the storages that sweeps read.
 */
export function announcedBy(line: string, swept: readonly string[]): Announced | 'somewhere' | undefined {
  if (!STORED.test(line)) return undefined;
  const fields = fieldsOf(line);
  const [storage = ''] = fields;
  const index = integerField(fields, 1);
  if (!/^[A-Z_]{2,8}$/.test(storage) || index === undefined || index < 0) return 'somewhere';
  // An index in "MT", the union of the others, would give the message a second identity.
  if (storage === UNION_STORAGE && !swept.includes(storage)) return 'somewhere';
  return { storage, index };
}

/** Returns whether the line is a message itself, which is in no storage. */
export function isDirect(urc: Urc): urc is Urc & { readonly body: string } {
  return urc.body !== undefined && DIRECT.test(urc.line);
}
