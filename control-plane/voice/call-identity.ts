// Which call a bot streams, in the names that bots for Twilio and Vonage read.
import type { CallRow } from '../store/messages/calls.ts';

export interface CallIdentity {
  callId: string;
  accountId: string;
  direction: CallRow['direction'];
  /** The far end in E.164, or as received; null if it is withheld. */
  peer: string | null;
  /** The subscriber's number. */
  number: string | null;
}

/** The two numbers and the direction of a call. A withheld number is left out. */
export function parametersOf({ direction, peer, number }: CallIdentity): Record<string, string> {
  const [from, to] = direction === 'inbound' ? [peer, number] : [number, peer];
  return {
    ...(from === null ? {} : { from_number: from }),
    ...(to === null ? {} : { to_number: to }),
    direction,
  };
}
