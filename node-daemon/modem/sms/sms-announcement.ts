// Announcements of messages by the modem: the place of one, one without a known place, or the message itself. Pure.
import { fieldsOf, integerField } from '../../at/fields.ts';
import type { Urc } from '../../at/urc.ts';
import { UNION_STORAGE } from './sms-storage.ts';

/** A place in which a message was announced. */
export interface Announced {
  readonly storage: string;
  readonly index: number;
}

/** +CMTI for messages, +CDSI for reports, and some modems +CDSI for both (3GPP TS 27.005 §3.4.1). */
const STORED = /^\+(?:CMTI|CDSI):/;
/** +CLASS0: a flash message, which some modems give directly under any AT+CNMI. */
const DIRECT = /^\+(?:CMT|CDS|CLASS0):/;

/**
 * The announcement in a line: a message in a place, one `somewhere` (some firmware sends index -1 or no storage when it could not store),
 * or none. `swept`: the storages that are read as a whole.
 */
export function announcedBy(line: string, swept: readonly string[]): Announced | 'somewhere' | undefined {
  if (!STORED.test(line)) return undefined;
  const fields = fieldsOf(line);
  const [storage = ''] = fields;
  const index = integerField(fields, 1);
  if (!/^[A-Z_]{2,8}$/.test(storage) || index === undefined || index < 0) return 'somewhere';
  // An index of the union "MT" would give the message a second identity.
  if (storage === UNION_STORAGE && !swept.includes(storage)) return 'somewhere';
  return { storage, index };
}

/** Whether this is a message itself, which lies nowhere. */
export function isDirect(urc: Urc): urc is Urc & { readonly body: string } {
  return urc.body !== undefined && DIRECT.test(urc.line);
}
