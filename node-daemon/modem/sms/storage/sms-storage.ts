// Reads the modem's message storages, their contents, and announcements of messages (3GPP TS 27.005 §3.2.2, §3.4). Pure.
import { createHash } from 'node:crypto';
import type { Information } from '../../../at/exchange.ts';
import { fieldsOf, integerField } from '../../../at/fields.ts';
import type { Urc } from '../../../at/urc.ts';
import { readPdu } from '../../../sms/received-pdu.ts';

/** A received message in a storage. */
export interface StoredMessage {
  readonly index: number;
  /** True if it was not read before. */
  readonly unread: boolean;
  /** The PDU, hexadecimal. */
  readonly pdu: string;
}

/** The contents of a storage at a sweep. */
export interface FoundInStorage {
  readonly used: number | null;
  readonly total: number | null;
  /** Information responses to AT+CMGL=4. */
  readonly entries: readonly Information[];
}

/** <stat> of received messages in PDU mode. 2 and 3 are stored messages to send. */
const RECEIVED_UNREAD = 0;
const RECEIVED_READ = 1;

/** Reads the received messages in the answers to AT+CMGL=4. */
export function parseList(information: readonly Information[]): StoredMessage[] {
  return information.flatMap(({ line, body }) => {
    const fields = fieldsOf(line);
    const index = integerField(fields, 0);
    const status = integerField(fields, 1);
    const received = status === RECEIVED_UNREAD || status === RECEIVED_READ;
    if (index === undefined || body === undefined || !received) return [];
    return [{ index, unread: status === RECEIVED_UNREAD, pdu: body }];
  });
}

/** Reads the answer to AT+CMGR=<index>. Returns `undefined` for an empty place, which modems report in three ways. */
export function parseRead(index: number, information: readonly Information[]): StoredMessage | undefined {
  const [answer] = information;
  if (answer?.body === undefined) return undefined;
  const status = integerField(fieldsOf(answer.line), 0);
  if (status !== RECEIVED_UNREAD && status !== RECEIVED_READ) return undefined;
  return { index, unread: status === RECEIVED_UNREAD, pdu: answer.body };
}

/** Order of arrival, as far as the modem announced it. */
export interface Announcements {
  /** Announced places, oldest first. */
  readonly places: readonly number[];
  /** Whether an unannounced message is older than the session. If false, its announcement was lost. */
  readonly beginHere: boolean;
}

/** Returns messages in the order of arrival: by the service center's time, then by announcement, then by place. */
export function inOrderOfArrival(
  messages: readonly StoredMessage[],
  { places, beginHere }: Announcements,
): StoredMessage[] {
  const unannounced = beginHere ? -1 : places.length;
  const known = messages.map((message) => {
    const position = places.indexOf(message.index);
    return { message, sentAt: sentAtOf(message.pdu), position: position < 0 ? unannounced : position };
  });
  known.sort((a, b) => {
    return a.sentAt - b.sentAt || a.position - b.position || a.message.index - b.message.index;
  });
  return known.map(({ message }) => message);
}

/** Returns the service center's time of a message, milliseconds since the epoch; 0 if it has none. */
function sentAtOf(pdu: string): number {
  const { decoded } = readPdu(pdu);
  return decoded?.kind === 'deliver' && decoded.sentAt !== null ? Date.parse(decoded.sentAt) : 0;
}

/** The storages in the answer to AT+CPMS=?. */
export interface Storages {
  /** Storages for reading and deleting. All of them are swept. */
  readonly readable: readonly string[];
  /** Storages for incoming messages, best first. */
  readonly receiving: readonly string[];
}

/** The card's own storage. Its messages move with the card. */
export const SIM_STORAGE = 'SM';
/** Modem memory is larger and faster, but after a SIM change the owner of its messages is unknown. */
const RECEIVING_ORDER = [SIM_STORAGE, 'ME', 'MT'];
/** The union of other storages, in which its messages are also found. */
const UNION_STORAGE = 'MT';
/** Cell broadcasts are not messages to a subscriber. "SM_P" is "SM" followed by "ME" (SIMCom SIM800). */
const NOT_SWEPT = /^BM$|_P$/;

/** Reads `+CPMS: ("SM","ME"),("SM","ME"),("SM","ME")`, the answer to AT+CPMS=?. */
export function parseStorages(line: string): Storages {
  const groups = [...line.matchAll(/\(([^)]*)\)/g)].map(([, group = '']) =>
    [...group.matchAll(/"([A-Z_]{2,8})"/g)].map(([, name = '']) => name),
  );
  const [first = ['SM'], second = first, third = second] = groups;
  const readable = first.filter((name) => !NOT_SWEPT.test(name));
  const parts = readable.filter((name) => name !== UNION_STORAGE);
  return {
    readable: parts.length > 0 ? parts : readable,
    receiving: RECEIVING_ORDER.filter((name) => third.includes(name)),
  };
}

/** Use of a storage: used places and all places. */
export interface StorageUsage {
  readonly used: number;
  readonly total: number;
}

/** Returns the use of the receiving storage from the answer to AT+CPMS=: the third pair of `+CPMS: 1,30,1,30,2,30`. */
export function parseReceivingUsage(line: string): StorageUsage | undefined {
  const fields = fieldsOf(line);
  const used = integerField(fields, 4);
  const total = integerField(fields, 5);
  if (used === undefined || total === undefined || used < 0 || total < 0) return undefined;
  return { used, total };
}

/** Returns a digest of fixed length that identifies a PDU. */
export function pduDigestOf(pdu: string): string {
  return createHash('sha256').update(pdu.toUpperCase()).digest('hex');
}

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
