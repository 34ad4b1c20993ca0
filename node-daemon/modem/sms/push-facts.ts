// Makes the facts of a WAP push: of an announced MMS, or of data that is not for a reader. Pure.
import type { Fact, FactOf } from '#shared/link/messages.ts';
import { joinParts, type MessagePart } from '../../sms/concatenation.ts';
import { decodeMmsNotification, type MmsNotification, WAP_PUSH_PORT } from '../../sms/mms-notification.ts';
import { TpduError } from '../../sms/tpdu-error.ts';
import { receivedFacts, unreadableFact } from './sms-facts.ts';

/** Sizes of the link. Larger ones are not plausible. */
const SIZE_BYTES_MAX = 2 ** 31 - 1;
const TIME_MS_MAX = Date.parse('9999-12-31T23:59:59Z');

/** Returns the facts of all parts of one message, text or push, even if some are missing. */
export function messageFacts(iccid: string, parts: readonly [MessagePart, ...MessagePart[]]): Fact[] {
  return parts[0].pdu === undefined ? receivedFacts(iccid, joinParts(parts)) : pushFacts(iccid, parts);
}

function pushFacts(iccid: string, parts: readonly [MessagePart, ...MessagePart[]]): Fact[] {
  const message = joinParts(parts);
  const ordered = [...parts].sort((a, b) => a.part - b.part);
  const begin = ordered.filter(({ part }, index) => part === index + 1).map(({ text }) => text);
  try {
    const octets = Buffer.from(begin.join(''), 'hex');
    const notification = decodeMmsNotification(octets, { isPartial: message.partial });
    const mms = mmsOf(notification, message.sentAt ?? message.receivedAt);
    const from = notification.from ?? message.from;
    const [fact, ...others] = receivedFacts(iccid, { ...message, from, text: noticeOf(mms), partial: false });
    return fact === undefined ? [] : [{ ...fact, mms }, ...others];
  } catch (error) {
    if (!(error instanceof TpduError)) throw error;
    const reason = `data for port ${WAP_PUSH_PORT}: ${error.message}`;
    return ordered.map(({ pdu = '', receivedAt }) => unreadableFact(iccid, pdu, reason, receivedAt));
  }
}

type Mms = NonNullable<FactOf<'sms_received'>['mms']>;

function mmsOf({ transactionId, sizeBytes, expiry }: MmsNotification, announcedAt: string): Mms {
  const since = expiry?.kind === 'delta' ? Date.parse(announcedAt) : 0;
  const expiresMs = expiry === null ? Number.NaN : since + expiry.seconds * 1000;
  return {
    transaction_id: transactionId,
    size_bytes: sizeBytes !== null && sizeBytes <= SIZE_BYTES_MAX ? sizeBytes : null,
    expires_at: expiresMs <= TIME_MS_MAX ? new Date(expiresMs).toISOString() : null,
  };
}

/** Nothing in it comes from the sender's words. */
function noticeOf({ size_bytes: size, expires_at: until }: Mms): string {
  const about = size === null ? '' : `, ${Math.max(1, Math.round(size / 1000))} kB`;
  const kept = until === null ? '' : ` The carrier keeps it until ${until.slice(0, 16)}Z.`;
  return `Picture message (MMS)${about}.${kept} This number cannot fetch it. Ask the sender for a text.`;
}
