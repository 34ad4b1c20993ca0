// The record of a sequence: the chain's own history, answers, and the rows of the database after each step.
import type { PaymentRow, SubscriptionRow } from './lane.ts';
import type { Plan, ProtocolName } from './plan.ts';
import type { MinedTransaction } from './simulated-chain.ts';

export type Answer =
  | { kind: 'paid'; number: string }
  /** 402 */
  | { kind: 'rejected'; code: string }
  | { kind: 'refused'; code: string }
  /** By a fault of ours. */
  | { kind: 'failed'; error: string }
  /** The process died, or the sequence was over. */
  | { kind: 'none' };

/** One presentation of an authorization. Moments count what happens: presentations, showings, answers. */
export interface Presentation {
  step: number;
  authorization: number;
  protocol: ProtocolName;
  startedAt: number;
  /** Its transfer was in a block already. */
  wasPaidAtStart: boolean;
  /** The RPC answered for blocks that were not the newest. */
  wasLagging: boolean;
  answer: Answer;
  /** The state of the chain when it was answered. */
  hadPaid: boolean;
  /** The service had sent it, or shown it to a client, and it could still be mined. */
  couldMove: boolean;
}

/** The answer of `/auth` for the subscription of a wallet. */
interface SignIn {
  step: number;
  payer: number;
  answer: 'active' | 'settlement_pending' | 'no_active_subscription';
  /** Authorizations of the payer that the service has sent, that can move money or have, and brought nothing. */
  openAuthorizations: number[];
}

export interface Snapshot {
  /** Steps, then the rounds in which everything settles. */
  step: number;
  atMs: number;
  rows: PaymentRow[];
}

export interface AuthorizationRecord {
  id: number;
  payer: number;
  nonce: string;
  validBefore: number;
  /** When the service first sent or stored it, and showed it to others. Undefined: never. */
  sentAt: number | undefined;
  shownAt: number | undefined;
}

export interface SequenceRecord {
  plan: Plan;
  authorizations: AuthorizationRecord[];
  presentations: Presentation[];
  signIns: SignIn[];
  snapshots: Snapshot[];
  /** From when the RPC answered all that was asked, and time was given to settle. */
  settledFromMs: number;
  /** The longest time between two rounds since then. */
  roundGapMs: number;
  /** A block vanished in which something was used, in these steps. */
  reorganisedAt: { step: number; authorizations: number[] }[];
  deaths: string[];
  /** The canonical chain at the end. */
  mined: MinedTransaction[];
  /** Transactions that the relayer sent and the token refused. */
  refused: { payer: number; authorization: number; atMs: number; gasUsed: bigint }[];
  rows: PaymentRow[];
  subscriptions: SubscriptionRow[];
  /** A transaction of the relayer that could be mined is in no block at the end. */
  isRelayerWaiting: boolean;
  /** Numbers on sale without a subscriber. */
  numbersFree: number;
}
