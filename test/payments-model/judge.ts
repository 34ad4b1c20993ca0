// The owners, computed from the chain's own history and the answers alone; every rule that a sequence broke. Pure.
import { payerAt } from './authorizations.ts';
import type { PaymentRow } from './lane.ts';
import type { SequenceRecord } from './record.ts';

const RULES = {
  year_without_money:
    'a payment that bought a year has its transfer in the chain, or is marked as taken back',
  money_without_year: 'a transfer that the service knows of bought a year, or is noted and can be sent back',
  money_lost: 'a transfer that the service sent, or was shown, is in its ledger',
  wrongly_marked: 'a payment is marked as taken back only when the chain has no transfer of it',
  years: 'a wallet has as many years as payments that bought one',
  token_twice: 'an authorization brings one token at most',
  token_for_public: 'a client that presents a public authorization gets no token',
  token_without_money: 'a token is given once the transfer is in the chain',
  invited_twice:
    '402 is answered only while the authorization has moved no money and can move none that was sent',
  sign_in_invites: 'signing in invites no wallet to pay while a payment is open',
  two_reservations: 'a payer has one open reservation at most',
  number_held: 'no number is reserved longer than the longest bound',
  never_settled: 'every payment comes to an end within the longest bound',
  sales_blocked: 'no transaction of the relayer stays in front of later ones for ever',
  gas: 'the relayer burns no more than its limit, for a few transactions of one payer a day',
  failed: 'no request ends by a fault of the service',
} as const;

export type Rule = keyof typeof RULES;

export interface Finding {
  rule: Rule;
  about: string;
}

/** Refused transfers in a day after which the service refuses a payer. */
const REFUSED_MAX = 3;
const DAY_MS = 86_400_000;
/** No transaction may burn more. */
const GAS_MAX = 200_000n;

/** Until a number is given back whose authorization has ended: the search for its use, and the pause between two checks. */
const HELD_AFTER_END_MS = 30 * 60_000;

/** States of payments that have bought one. */
export const HAS_YEAR: ReadonlySet<string> = new Set(['applied', 'taken_back']);

export function judge(record: SequenceRecord): Finding[] {
  const findings: Finding[] = [];
  const find = (rule: Rule, about: string): void => void findings.push({ rule, about });
  judgeMoney(record, find);
  judgeYears(record, find);
  judgeAnswers(record, find);
  judgeReservations(record, find);
  judgeGas(record, find);
  if (record.isRelayerWaiting) find('sales_blocked', 'the next nonce of the relayer is in no block');
  return findings;
}

type Find = (rule: Rule, about: string) => void;

const rowOf = (rows: readonly PaymentRow[], nonce: string): PaymentRow | undefined =>
  rows.find((row) => row.nonce === nonce);

function judgeMoney(record: SequenceRecord, find: Find): void {
  const { authorizations, mined, presentations, rows } = record;
  for (const { id, nonce, sentAt } of authorizations) {
    const transfer = mined.find(
      ({ authorization, outcome }) => authorization.id === id && outcome === 'paid',
    );
    const row = rowOf(rows, nonce);
    const about = `a${id} is ${row?.state ?? 'unknown'}; the chain has ${transfer ? `${transfer.sender}'s transfer` : 'no transfer'}`;
    if (transfer === undefined) {
      if (row?.state === 'applied') find('year_without_money', about);
      continue;
    }
    if (row?.state === 'taken_back') find('wrongly_marked', about);
    // A payment that was never presented, or was released before it moved, was sent by its payer.
    const isOurs = transfer.sender !== 'stranger';
    const wasAnswered = presentations.some(
      ({ answer, authorization }) =>
        authorization === id && answer.kind === 'refused' && answer.code === 'payment_already_used',
    );
    if (row === undefined || row.state === 'released') {
      if (isOurs || sentAt !== undefined || wasAnswered) find('money_lost', about);
      continue;
    }
    if (row.state === 'void') find('money_without_year', about);
    if ((row.state === 'in_flight' || row.state === 'reverted') && row.transferHash === null)
      find('money_without_year', about);
    if (row.state === 'claimed') find('money_without_year', about);
  }
}

function judgeYears({ rows, subscriptions }: SequenceRecord, find: Find): void {
  const wallets = new Set([...rows.map(({ payer }) => payer), ...subscriptions.map(({ wallet }) => wallet)]);
  for (const wallet of wallets) {
    const bought = rows.filter(({ payer, state }) => payer === wallet && HAS_YEAR.has(state)).length;
    const subscription = subscriptions.find((one) => one.wallet === wallet);
    const years = subscription
      ? new Date(subscription.expiresAtMs).getUTCFullYear() -
        new Date(subscription.createdAtMs).getUTCFullYear()
      : 0;
    if (years !== bought) find('years', `p${payerAt(wallet)} has ${years} years for ${bought} payments`);
  }
}

function judgeAnswers(
  { authorizations, presentations, reorganisedAt, rows, signIns }: SequenceRecord,
  find: Find,
): void {
  for (const { id, nonce, shownAt } of authorizations) {
    const own = presentations.filter(({ authorization }) => authorization === id);
    const paid = own.filter(({ answer }) => answer.kind === 'paid');
    if (paid.length > 1) find('token_twice', `a${id} in steps ${paid.map(({ step }) => step)}`);
    for (const { hadPaid, startedAt, step, wasPaidAtStart } of paid) {
      const about = `a${id} in step ${step}`;
      // The service can not know of a reorganisation between the block and the answer.
      const wasTakenBack = reorganisedAt.some((one) => one.step >= step && one.authorizations.includes(id));
      if ((wasPaidAtStart && !wasTakenBack) || (shownAt !== undefined && shownAt < startedAt))
        find('token_for_public', about);
      if ((!hadPaid && !wasTakenBack) || !HAS_YEAR.has(rowOf(rows, nonce)?.state ?? ''))
        find('token_without_money', about);
    }
  }
  for (const presentation of presentations) {
    const { answer, authorization, couldMove, hadPaid, step, wasLagging, wasPaidAtStart } = presentation;
    const about = `a${authorization} in step ${step}`;
    // A transaction that its payer sent is unknown to a node that lags, and to a request that has checked just before.
    const isSentByUs = authorizations.find(({ id }) => id === authorization)?.sentAt !== undefined;
    const isUnseen = !isSentByUs && (wasLagging || !wasPaidAtStart);
    if (answer.kind === 'failed') find('failed', `${about}: ${answer.error}`);
    // The chain may have changed since the answer, or a use of the authorization vanished before.
    const wasTakenBack = reorganisedAt.some(({ authorizations: gone }) => gone.includes(authorization));
    if (answer.kind === 'rejected' && !wasTakenBack && (couldMove || hadPaid) && !isUnseen)
      find('invited_twice', `${about}: ${answer.code}`);
  }
  for (const { answer, openAuthorizations, payer, step } of signIns) {
    if (answer === 'no_active_subscription' && openAuthorizations.length > 0)
      find('sign_in_invites', `p${payer} in step ${step}, open: ${openAuthorizations}`);
  }
}

function judgeReservations(record: SequenceRecord, find: Find): void {
  const { authorizations, numbersFree, roundGapMs, rows, settledFromMs, snapshots } = record;
  for (const { atMs, rows: seen, step } of snapshots) {
    const reserving = seen.filter(({ reservedNumber }) => reservedNumber !== null);
    const payers = new Set(reserving.map(({ payer }) => payer));
    if (payers.size < reserving.length) find('two_reservations', `after step ${step}`);
    for (const { nonce, state } of reserving) {
      const { id, validBefore = 0 } = authorizations.find((one) => one.nonce === nonce) ?? {};
      const from = Math.max(validBefore * 1000, settledFromMs);
      if (settledFromMs > 0 && atMs > from + HELD_AFTER_END_MS + roundGapMs)
        find('number_held', `by a${id}, ${state}, ${Math.round((atMs - from) / 60_000)} min after its end`);
    }
  }
  for (const { nonce, reservedNumber, state, transferHash } of rows) {
    const id = authorizations.find((one) => one.nonce === nonce)?.id;
    if (reservedNumber !== null) find('number_held', `by a${id}, ${state}, at the end`);
    const isOpen = state === 'claimed' || state === 'in_flight' || state === 'reverted';
    const waitsForNumber = transferHash !== null && numbersFree === 0;
    if (isOpen && !waitsForNumber) find('never_settled', `a${id} is ${state}`);
  }
}

function judgeGas({ mined, plan, refused }: SequenceRecord, find: Find): void {
  for (const { gasUsed } of refused) if (gasUsed > GAS_MAX) find('gas', `a transaction burnt ${gasUsed}`);
  // Another sender was faster with the same transfer: its gas is paid for.
  const paid = new Set(
    mined.filter(({ outcome }) => outcome === 'paid').map(({ authorization }) => authorization.id),
  );
  const burnt = refused.filter(({ authorization }) => !paid.has(authorization));
  for (const payer of plan.payers.keys()) {
    const times = burnt.filter((one) => one.payer === payer).map(({ atMs }) => atMs);
    times.sort((a, b) => a - b);
    const worst = Math.max(
      0,
      ...times.map((from) => times.filter((at) => at >= from && at < from + DAY_MS).length),
    );
    if (worst > REFUSED_MAX) find('gas', `p${payer} burnt ${worst} transactions in a day`);
  }
}
