// Decodes the announcement of an MMS: an M-Notification.ind (OMA-TS-MMS_ENC-V1_3 §6.2) in a WSP push (WAP-230-WSP §8.2.4.1). Pure.
import { TpduError } from './tpdu-error.ts';
import { OctetsEndError, WspReader } from './wsp-octets.ts';

/** Port of connectionless WAP push (WAP-235-PushOTA). */
export const WAP_PUSH_PORT = 2948;

/** An MMS that waits at the sender's carrier. */
export interface MmsNotification {
  /** The carrier repeats it with each copy of the notification. */
  readonly transactionId: string;
  /** E.164, another number or an e-mail address; null if it is withheld. */
  readonly from: string | null;
  readonly sizeBytes: number | null;
  /** Until when the carrier keeps it; `delta` counts from the notification. */
  readonly expiry: { readonly kind: 'at' | 'delta'; readonly seconds: number } | null;
}

const PDU_PUSH = 0x06;
const PDU_CONFIRMED_PUSH = 0x07;
const MMS_MEDIA = 'application/vnd.wap.mms-message';
const MMS_MEDIA_CODE = 0x3e;

const FIELD_EXPIRY = 0x88;
const FIELD_FROM = 0x89;
const FIELD_MESSAGE_TYPE = 0x8c;
const FIELD_MESSAGE_SIZE = 0x8e;
const FIELD_TRANSACTION_ID = 0x98;

const TYPE_NOTIFICATION_IND = 0x82;
/** Tokens of "From" and of "X-Mms-Expiry" (§7.3.19, §7.3.17). */
const ADDRESS_PRESENT = 0x80;
const EXPIRY_ABSOLUTE = 0x80;
const EXPIRY_RELATIVE = 0x81;
const TRANSACTION_ID_MAX = 128;

/**
 * Decodes user data for the WAP push port. `isPartial`: the end is missing, so what came before it counts. Throws `TpduError`, and no
 * other error, if it is no notification of an MMS.
 */
export function decodeMmsNotification(octets: Uint8Array, { isPartial = false } = {}): MmsNotification {
  const push = new WspReader(octets);
  push.octet(); // Transaction of WSP.
  const type = push.octet();
  if (type !== PDU_PUSH && type !== PDU_CONFIRMED_PUSH) throw new TpduError('no WAP push');
  const headers = new WspReader(push.octets(push.uintvar()));
  if (!isMmsMedia(headers)) throw new TpduError('a WAP push that is no MMS notification');
  return notificationOf(new WspReader(push.rest()), isPartial);
}

function isMmsMedia(headers: WspReader): boolean {
  // A media type with parameters begins with the length of all of it.
  const first = headers.octet();
  if (first >= 0x80) return (first & 0x7f) === MMS_MEDIA_CODE;
  if (first > 31) return `${String.fromCharCode(first)}${headers.text()}`.toLowerCase() === MMS_MEDIA;
  const length = first === 31 ? headers.uintvar() : first;
  const media = headers.octets(length);
  return isMmsMediaWithParameters(media);
}

function isMmsMediaWithParameters(media: Uint8Array): boolean {
  const reader = new WspReader(media);
  const [first = 0] = media;
  return first >= 0x80 || first <= 30
    ? reader.integer() === MMS_MEDIA_CODE
    : reader.text().toLowerCase() === MMS_MEDIA;
}

interface Fields {
  messageType?: number;
  transactionId?: string;
  from?: string | null;
  sizeBytes?: number;
  expiry?: MmsNotification['expiry'];
}

function notificationOf(reader: WspReader, isPartial: boolean): MmsNotification {
  const fields: Fields = {};
  try {
    while (!reader.isAtEnd) readField(reader, fields);
  } catch (error) {
    if (!isPartial || !(error instanceof OctetsEndError)) throw error;
  }
  const { messageType, transactionId = '', from = null, sizeBytes = null, expiry = null } = fields;
  if (messageType !== TYPE_NOTIFICATION_IND) throw new TpduError('an MMS message that is no notification');
  if (transactionId === '' || transactionId.length > TRANSACTION_ID_MAX) {
    throw new TpduError('an MMS notification without a usable transaction id');
  }
  return { transactionId, from, sizeBytes, expiry };
}

function readField(reader: WspReader, fields: Fields): void {
  const field = reader.octet();
  switch (field) {
    case FIELD_MESSAGE_TYPE:
      fields.messageType = reader.octet();
      return;
    case FIELD_TRANSACTION_ID:
      fields.transactionId = printable(reader.text());
      return;
    case FIELD_FROM:
      fields.from = addressOf(new WspReader(reader.lengthPrefixed()));
      return;
    case FIELD_MESSAGE_SIZE:
      fields.sizeBytes = reader.integer();
      return;
    case FIELD_EXPIRY:
      fields.expiry = expiryOf(new WspReader(reader.lengthPrefixed()));
      return;
    default:
      // Fields without a number have their name as text, and text as value.
      if (field < 0x80) reader.text();
      reader.skipValue();
  }
}

/** "+12065550100/TYPE=PLMN" is a phone number (§8.2). */
function addressOf(value: WspReader): string | null {
  if (value.octet() !== ADDRESS_PRESENT) return null;
  const address = printable(value.encodedText().replace(/\/TYPE=[A-Za-z0-9]+$/i, ''));
  return address === '' ? null : address;
}

function expiryOf(value: WspReader): MmsNotification['expiry'] {
  const token = value.octet();
  if (token !== EXPIRY_ABSOLUTE && token !== EXPIRY_RELATIVE)
    throw new TpduError('an unknown form of expiry');
  return { kind: token === EXPIRY_ABSOLUTE ? 'at' : 'delta', seconds: value.integer() };
}

const printable = (text: string): string => text.replace(/[\p{Control}\p{Surrogate}\ufffd]/gu, '').trim();
