// A modem as the carrier sees it, and the carrier's policies that faults change.
import type { VoiceSubscriber } from '../calls/call-switch.ts';
import type { RackRecord, WaitingMessage } from '../state/records.ts';

/** How a status report writes the recipient. */
export type RecipientForm = 'as_sent' | 'national' | 'digits';

/** The status reports that the carrier sends for messages. */
export interface ReportPolicy {
  /** TP-ST. */
  status: number;
  copies: 0 | 1 | 2;
  /** TP-MR instead of the message's own. */
  messageReference: number | undefined;
  recipientForm: RecipientForm;
  /** A report on a message of yesterday with the same reference comes first, and says that it has expired. */
  followsYesterdays: boolean;
  /** The report is there before the modem has given its result. */
  comesBeforeResult: boolean;
  /** E.164; absent for the carrier's own. */
  serviceCentre: string | undefined;
}

/** The time stamps that the service center writes into messages for a subscriber. */
export interface TimePolicy {
  shiftMs: number;
  /** Seven octets instead of a time. */
  octets: Buffer | undefined;
}

export const USUAL_REPORTS: ReportPolicy = {
  status: 0,
  copies: 1,
  messageReference: undefined,
  recipientForm: 'as_sent',
  followsYesterdays: false,
  comesBeforeResult: false,
  serviceCentre: undefined,
};

export const USUAL_TIME: TimePolicy = { shiftMs: 0, octets: undefined };

/** A modem with a SIM card in it. */
export interface Subscriber {
  readonly imei: string;
  readonly reportPolicy: ReportPolicy;
  readonly timePolicy: TimePolicy;
  /** Takes calls. */
  readonly voice: VoiceSubscriber;
  /** TP-MR of all its messages, if the fault `message_reference` fixes it. */
  readonly fixedReference: number | undefined;
  /** False: all messages wait, and the carrier does not try to deliver. */
  readonly isReachable: boolean;
  /**
   * Takes a message (and journals that, with the records of `also`), or leaves it to wait until the modem
   * calls `Carrier.deliverWaiting`. Throws `JournalError`.
   */
  receive(message: WaitingMessage, also: () => RackRecord[]): 'taken' | 'later';
}

/** A card as the carrier knows it. */
export interface Subscription {
  iccid: string;
  /** E.164. */
  number: string;
}
