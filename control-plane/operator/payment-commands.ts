// `control-plane payment …`: where payments stand, what happened to one, and the way back for money that bought nothing.
import { systemClock } from '#shared/clock.ts';
import { programCommand } from '#shared/process/commands.ts';
import { integerOption, switchOption } from '#shared/process/options.ts';
import { keyFileSchema, keySchema, OPTIONS, rpcUrlOf } from '../config.ts';
import { shownWallet } from '../domain/masked-wallet.ts';
import { OperatorRefusal } from '../domain/operator-refusal.ts';
import { connectChain } from '../payments/chain.ts';
import { PAYMENT_STATES } from '../payments/payment.ts';
import { refund, refundableTransfer } from '../payments/refund.ts';
import { connectRefundWallet } from '../payments/refund-wallet.ts';
import { refundLedgerOf } from './desk.ts';
import { paymentIdSchema, reasonSchema, transactionHashSchema, walletSchema } from './desk-inputs.ts';
import type { Operator } from './open-operator.ts';
import { shownPayment, shownPayments, shownValue } from './shown-payment.ts';
import {
  checked,
  choiceOption,
  FULL_OPTION,
  filterOption,
  JSON_OPTION,
  LIST_OPTIONS,
  shownPage,
  WHERE,
  withOperator,
} from './where.ts';

const { paymentsFile, chainId, rpcUrl, rpcTimeoutMs } = OPTIONS;

const REFUND_OPTIONS = {
  ...WHERE,
  ...{ paymentsFile, chainId, rpcUrl, rpcTimeoutMs },
  reason: { about: 'why, kept in the history', schema: reasonSchema },
  yes: switchOption('send the money; without it nothing is done'),
  transfer: filterOption(
    'transaction that brought the money, where the service has not noted it',
    transactionHashSchema,
  ),
  signAnew: switchOption('sign another transaction when the stored one can never move the money'),
  unrelated: filterOption(
    'with --sign-anew: transaction that sent the payer the same amount for something else',
    transactionHashSchema,
  ),
  refundKey: {
    env: 'REFUND_KEY',
    about: 'private key of the account that was paid; better given as a file',
    schema: keySchema.optional(),
  },
  refundKeyFile: {
    env: 'REFUND_KEY_FILE',
    about: 'file that holds that key',
    schema: keyFileSchema.optional(),
  },
  waitMs: {
    env: 'REFUND_WAIT_MS',
    about: 'time that a block is waited for',
    schema: integerOption(0, 600_000, 60_000),
  },
} as const;

export const PAYMENT_COMMANDS = [
  programCommand({
    usage: 'payment list',
    about: 'lists the payments, newest first; --stuck: those that somebody should look at',
    options: {
      ...WHERE,
      ...LIST_OPTIONS,
      full: FULL_OPTION,
      state: choiceOption('only those in this state', PAYMENT_STATES),
      stuck: switchOption('only those that are under way for long, or whose money came and bought nothing'),
      wallet: filterOption('only those of this payer', walletSchema),
      after: filterOption('the page behind this payment', paymentIdSchema),
    },
    run: ({ state, stuck, wallet, after, limit, json, full, ...where }) =>
      withOperator(where, async ({ desk }) => {
        const query = { state, isStuck: stuck, wallet, after, limit };
        const { rows, next } = await desk.ask('payments', query);
        if (!json) return shownPage(shownPayments(rows, full), next);
        const payments = rows.map((row) => ({ ...row, payer: shownWallet(row.payer, full) }));
        return JSON.stringify({ payments, next });
      }),
  }),
  programCommand({
    usage: 'payment show <id>',
    about: 'shows one payment and what happened to it',
    options: { ...WHERE, json: JSON_OPTION },
    run: ({ json, ...where }, [text]) =>
      withOperator(where, async ({ desk }) => {
        const { events, ...payment } = await desk.ask('payment', {
          id: checked('id', paymentIdSchema, text),
        });
        if (!json) return shownPayment(payment, events);
        const history = events.map(({ transactionHash, ...event }) => ({
          ...event,
          transaction_hash: transactionHash,
        }));
        return JSON.stringify({ ...payment, events: history });
      }),
  }),
  programCommand({
    usage: 'payment refund <id>',
    about: 'sends money that came and bought nothing back to its payer, once',
    options: REFUND_OPTIONS,
    run: async ({ refundKey, refundKeyFile, ...options }, [text]) => {
      if (refundKey !== undefined && refundKeyFile !== undefined)
        throw new Error('give one of REFUND_KEY_FILE and REFUND_KEY');
      const id = checked('id', paymentIdSchema, text);
      await withOperator(options, (operator) =>
        refundPayment(operator, id, { ...options, key: refundKeyFile ?? refundKey }),
      );
    },
  }),
];

type RefundOptions = Parameters<typeof rpcUrlOf>[0] & {
  readonly key: Parameters<typeof connectRefundWallet>[0]['key'];
  readonly reason: string;
  readonly yes: boolean;
  readonly transfer: `0x${string}` | undefined;
  readonly signAnew: boolean;
  readonly unrelated: `0x${string}` | undefined;
  readonly waitMs: number;
  readonly rpcTimeoutMs: number;
};

/** The key stays in this process: a service that has the database is given the signed transaction, to store it. */
async function refundPayment({ desk }: Operator, id: string, options: RefundOptions): Promise<string> {
  const ledger = refundLedgerOf(desk);
  const payment = await desk.ask('payment', { id });
  const what = `${shownValue(payment)} to ${shownWallet(payment.payer, true)}`;
  if (payment.state === 'refunded') return `${id} is refunded: ${what} by ${payment.refund_hash}`;
  if (payment.state !== 'refunding') refundableTransfer(await ledger.find(id), options.transfer);
  if (!options.yes) throw new OperatorRefusal(`nothing was done: --yes sends ${what}`);
  const chainId = payment.chain_id;
  const rpcUrl = rpcUrlOf(options, chainId);
  if (rpcUrl === undefined)
    throw new Error(`nothing says where chain ${chainId} is: give PAYMENTS_FILE, or RPC_URL and CHAIN_ID`);
  const rpc = { chainId, rpcUrl, rpcTimeoutMs: options.rpcTimeoutMs };
  const chain = connectChain(rpc);
  const hash = await refund(
    {
      ledger,
      ...{ clock: systemClock, waitMs: options.waitMs },
      wallet: connectRefundWallet({ ...rpc, key: options.key }),
      isPaid: async (transfer, transferHash) =>
        (await chain.resultOf(transfer, transferHash)).kind === 'transferred',
    },
    id,
    {
      reason: options.reason,
      transferHash: options.transfer,
      isSignedAnew: options.signAnew,
      unrelated: options.unrelated,
    },
  );
  return `${id} is refunded: ${what} by ${hash}`;
}
