// Sends one message through the modem: encodes it as a whole, then sends its segments one by one.
import type { Clock } from '#shared/clock.ts';
import type { SmsOutcome } from '#shared/link/messages.ts';
import type { Segmentation } from '#shared/sms/segmentation.ts';
import { AtTimeoutError } from '../../at/at-error.ts';
import type { AtChannel } from '../../at/channel.ts';
import { atQuery } from '../../at/command.ts';
import { fieldsOf, integerField } from '../../at/fields.ts';
import { encodeSubmit, type SubmitPdu } from '../../sms/tpdu.ts';
import { failedOutcome, failedSegmentOutcome } from './sms-outcome.ts';

/** Networks need 1 to 5 s. With a shorter time-out, accepted messages would be unknown. */
export const SUBMIT_TIMEOUT_MS = 60_000;
/** TP-VP: the service center tries for 24 hours. */
const VALIDITY_24_HOURS = 167;

/** Returns the PDUs of a message. All are made before the first is sent, so that a message that cannot be encoded is not sent in part. */
export function encodeMessage(
  to: string,
  { encoding, segments }: Segmentation,
  /** 8 bits; joins the segments at the recipient. */
  concatenationReference: number,
): SubmitPdu[] {
  const total = segments.length;
  return segments.map((text, index) => {
    const header = { reference: concatenationReference, referenceBits: 8 as const, total, part: index + 1 };
    return encodeSubmit({
      to,
      text,
      encoding,
      statusReport: true,
      validityPeriod: VALIDITY_24_HOURS,
      ...(total > 1 ? { concatenation: header } : {}),
    });
  });
}

/** The result of sending a message to the modem. */
export interface Submitted {
  readonly outcome: SmsOutcome;
  /** TP-Message-References of the segments that the network accepted. */
  readonly references: readonly number[];
  /** Whether the answer to the last segment did not come in time. It may still come. */
  readonly isUnanswered: boolean;
}

/** Sends PDUs in order, up to the first that fails. Never rejects. */
export async function submitMessage(
  pdus: readonly SubmitPdu[],
  { channel, clock, onSegment }: { channel: AtChannel; clock: Clock; onSegment: (reference: number) => void },
): Promise<Submitted> {
  const references: number[] = [];
  const now = (): string => new Date(clock.now()).toISOString();
  for (const { pdu, length } of pdus) {
    const command = atQuery(`AT+CMGS=${length}`, '+CMGS:', { body: pdu, timeoutMs: SUBMIT_TIMEOUT_MS });
    try {
      const [answer] = await channel.send(command);
      const reference = referenceIn(answer?.line ?? '');
      references.push(reference);
      onSegment(reference);
    } catch (error) {
      const place = { sent: references.length, total: pdus.length };
      const isUnanswered = error instanceof AtTimeoutError && error.bodyGiven;
      const outcome = failedSegmentOutcome(failedOutcome(error, now()), place);
      return { outcome, references, isUnanswered };
    }
  }
  const outcome = { status: 'accepted' as const, message_references: references, at: now() };
  return { outcome, references, isUnanswered: false };
}

/** Returns the reference in `+CMGS: <mr>[,<scts>]`; 0 if the modem returns none. */
export function referenceIn(line: string): number {
  return (integerField(fieldsOf(line), 0) ?? 0) & 0xff;
}
