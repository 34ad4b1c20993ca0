// Ends a subscription and sends money back, for an operator who has the key: from the command line, or from the console.
import type { Clock } from '#shared/clock.ts';
import { messageOf } from '#shared/error-message.ts';
import { shownTime } from '#shared/operator/listing.ts';
import { ownCommand } from '#shared/process/own-command.ts';
import { OperatorRefusal, OperatorUnfinished } from '../domain/refusal.ts';
import { shownValue, shownWallet } from '../domain/shown-value.ts';
import type { Operator } from './procedures/all-procedures.ts';
import { checkRefunds, type RefundOptions, refundPayment } from './refund-payment.ts';

type Plan = Awaited<ReturnType<typeof planOf>>;

interface EndOrder {
  id: string;
  /** Refused if the subscription has another one. */
  number?: string | undefined;
  /** Without it, the unused share of what was paid. */
  amount?: string | undefined;
  /** ISO 8601: refused unless the subscription ends in this minute. A repetition that finishes a refund is not. A yes needs it or `shown`. */
  endsAt?: string | undefined;
  /** The refund that the operator confirmed, as `shownRefunds` writes it. The end is refused if the refund has changed. */
  shown?: string | undefined;
}

interface EndOptions extends Omit<RefundOptions, 'transfer'> {
  /** Gets the text of an end that still needs a yes. */
  onPreview?: ((text: string) => void) | undefined;
  /** Gets a remark about an end that was done before. */
  onNote?: ((text: string) => void) | undefined;
}

/**
 * Returns what was done, with the receipts. The end and the decision to refund are one transaction; then each payment is refunded, once. A
 * repetition finishes what is left, and is refused if the customer has renewed before. Throws `OperatorRefusal` if nothing was done,
 * `OperatorUnfinished` if a refund is still to be sent.
 */
export async function endAndRefund(
  operator: Operator,
  order: EndOrder,
  options: EndOptions,
): Promise<string> {
  const plan = await planOf(operator, order);
  if (!plan.is_decided) refuseOtherEnd(plan, order.endsAt);
  const wasFinished = plan.is_decided && (await isFinished(operator, plan));
  // A yes is to one end: the customer may have renewed since it was typed.
  const isOfThisEnd = plan.is_decided || order.endsAt !== undefined || order.shown !== undefined;
  if (!(options.yes && isOfThisEnd) && !wasFinished) {
    options.onPreview?.(intentOf(plan));
    throw new OperatorRefusal(howToDo(plan, options.clock));
  }
  const decided = plan.is_decided ? plan : await decide(operator, order, plan, options);
  if (wasFinished)
    options.onNote?.(`${order.id} had already ended, and its refund was over: nothing was done now`);
  // The same text for a repetition, so that a script may run twice.
  const lines = [`${order.id} has ended`];
  const ids = decided.payments.map(({ id }) => id);
  for (const [index, id] of ids.entries()) lines.push(await finish(operator, id, ids.slice(index), options));
  return lines.join('\n');
}

/** Throws unless the subscription ends in the minute of `endsAt`, if there is one: lists show no seconds. */
export function refuseOtherEnd(
  { id, expires_at: end }: { id: string; expires_at: string },
  endsAt: string | undefined,
): void {
  if (endsAt !== undefined && shownTime(new Date(endsAt).toISOString()) !== shownTime(end))
    throw new OperatorRefusal(`Nothing was done: ${id} ends at ${shownTime(end)}.`);
}

function howToDo(plan: Plan, clock: Clock): string {
  const early = whyTooEarly(plan, clock);
  if (early !== undefined) return `Nothing was done: the refund cannot be sent yet: ${early}`;
  return plan.is_decided ? 'Nothing was done. Run the command with --yes to do it.' : howToEnd(plan);
}

/** The flags that end a subscription without a question, for the operator who saw this end. */
export const howToEnd = ({ expires_at: end }: { expires_at: string }): string =>
  `Nothing was done. Run the command with --yes --ends-at ${shownTime(end).replace(' ', 'T')} to do it.`;

/** Throws if a payment cannot be refunded yet. */
export function refuseTooEarly(plan: Plan, clock: Clock): void {
  const early = whyTooEarly(plan, clock);
  if (early !== undefined) throw new OperatorRefusal(`Nothing was done: ${early}`);
}

/** Why a refund cannot be sent yet, and when to try again; undefined if it can. */
function whyTooEarly({ is_decided, payments }: Plan, clock: Clock): string | undefined {
  const early = is_decided ? undefined : payments.find(({ is_final }) => !is_final);
  if (early === undefined) return undefined;
  const { id, next_check_at: next } = early;
  const when = next === null || Date.parse(next) <= clock.now() ? 'within a minute' : `at ${shownTime(next)}`;
  return `the chain may still revert the transfer of ${id}. The service checks it again ${when}: try again after that`;
}

/** "900 USDC (182 of 365 days of pay_0f…) to 0x90F7…b906": for the operator who confirms. */
export const shownRefunds = ({ payments }: Pick<Plan, 'payments'>, isFull: boolean): string =>
  payments
    .map((payment) => {
      const { days, days_left, id, payer } = payment;
      const share = days_left === null || days === null ? id : `${days_left} of ${days} days of ${id}`;
      return `${shownValue(payment)} (${share}) to ${shownWallet(payer, isFull)}`;
    })
    .join(' and ');

export const planOf = (operator: Operator, { id, number, amount }: EndOrder) =>
  operator.call('planRefund', { id, number, amount });

const intentOf = (plan: Plan): string =>
  plan.is_decided
    ? `${plan.id} has ended; the rest of its refund is sent: ${shownRefunds(plan, true)}`
    : `${plan.id} ends now, and the payer gets ${shownRefunds(plan, true)}`;

async function decide(operator: Operator, order: EndOrder, plan: Plan, options: EndOptions): Promise<Plan> {
  if (order.shown !== undefined && order.shown !== shownRefunds(plan, false))
    throw new OperatorRefusal('Nothing was done: the amount is another one now. Load the page again.');
  refuseTooEarly(plan, options.clock);
  try {
    await checkRefunds(operator, plan.payments, options);
    await operator.call('endSubscription', {
      id: order.id,
      number: order.number,
      reason: options.reason,
      refund: {
        expires_at: plan.expires_at,
        shares: plan.payments.map(({ id, value }) => ({ id, value })),
      },
    });
  } catch (error) {
    // Another operator, or a second click, may have been faster: that refund is the one.
    const now = await planOf(operator, order).catch(() => undefined);
    if (now?.is_decided === true) return now;
    throw error;
  }
  return planOf(operator, order);
}

/** `left`: the payments that are not refunded yet, with this one. */
async function finish(
  operator: Operator,
  id: string,
  left: readonly string[],
  options: EndOptions,
): Promise<string> {
  try {
    if ((await operator.call('payment', { id })).state === 'closed')
      return `${id} is closed: an operator gave up its refund`;
    return await refundPayment(operator, id, { ...options, transfer: undefined });
  } catch (error) {
    const why = messageOf(error);
    // A repetition of the end could end what the customer has paid since, if another operator finishes the refund.
    const commands = left.map((each) => `"${ownCommand('control-plane')} payment refund ${each}"`);
    throw new OperatorUnfinished(
      `The subscription has ended, and its refund is not finished: ${why}\nTo finish it, run ${commands.join(' and ')}.`,
      { cause: error },
    );
  }
}

async function isFinished(operator: Operator, { payments }: Plan): Promise<boolean> {
  for (const { id } of payments) {
    const { state } = await operator.call('payment', { id });
    if (state !== 'refunded' && state !== 'closed') return false;
  }
  return true;
}
