// One life of what the service has for payments: the real checkout, settlement, finality and submitter on the real ledger, each call
// over their edge in its turn.
import { paymentAdmission, signInAdmission } from '#control-plane/payments/admission.ts';
import type { Chain } from '#control-plane/payments/chain/chain.ts';
import { type CheckoutParts, checkout } from '#control-plane/payments/checkout.ts';
import { Facilitator } from '#control-plane/payments/facilitator.ts';
import { Finality } from '#control-plane/payments/finality.ts';
import { LocalNonces } from '#control-plane/payments/nonces.ts';
import type { PaymentLedger } from '#control-plane/payments/payment.ts';
import { Relayer } from '#control-plane/payments/relayer.ts';
import { Settlement } from '#control-plane/payments/settlement.ts';
import type { Submitter } from '#control-plane/payments/submitter.ts';
import type { Database } from '#control-plane/store/database/database.ts';
import { createPaymentLedger } from '#control-plane/store/money/payments.ts';
import { silentLogger as log } from '#shared/log.ts';
import { OFFER, SALE } from './authorizations.ts';
import { connect, type World } from './chain-client.ts';
import { scriptedFacilitator } from './scripted-facilitator.ts';
import { type Life, newLife } from './turns.ts';

const YEARS_AHEAD_MAX = 2;
const SETTLEMENT_WAIT_MS = 20_000;

/** Parts that are wrong on purpose, to see the judge find it. */
export interface Mutation {
  ledger?: (ledger: PaymentLedger) => PaymentLedger;
  chain?: (chain: Chain) => Chain;
  checkout?: typeof checkout;
}

export interface ServiceProcess {
  life: Life;
  pay(headers: Parameters<typeof checkout>[1]): ReturnType<typeof checkout>;
  reconcile(): Promise<void>;
  finality(): Promise<void>;
}

interface ProcessParts {
  world: World;
  db: Database;
  submitter: 'relayer' | 'facilitator';
  mutation: Mutation;
}

export function startProcess({ world, db, submitter: kind, mutation }: ProcessParts): ServiceProcess {
  const life = newLife();
  const { clock } = world.chain;
  const connected = connect(world, life);
  const { wallet } = connected;
  const chain = mutation.chain?.(connected.chain) ?? connected.chain;
  const real = createPaymentLedger(db);
  const ledger = inTurns(world, life, mutation.ledger?.(real) ?? real);
  const submitter: Submitter =
    kind === 'relayer'
      ? new Relayer({
          chain,
          wallets: { present: wallet, former: [] },
          nonces: new LocalNonces(clock),
          ledger,
          clock,
          log,
          settlementWaitMs: SETTLEMENT_WAIT_MS,
        })
      : new Facilitator({ url: scriptedFacilitator(world, life), sale: SALE, ledger, clock, log });
  const parts = { chain, submitter, ledger, clock, log, settlementWaitMs: SETTLEMENT_WAIT_MS };
  const settlement = new Settlement(parts);
  const finality = new Finality(parts);
  const checkoutParts: CheckoutParts = {
    sale: SALE,
    signer: { offers: async () => [], receipt: async () => undefined },
    ledger,
    admission: paymentAdmission(clock),
    clock,
    paidAheadYearsMax: YEARS_AHEAD_MAX,
    networks: { isOpen: () => true, openOffers: SALE.offers, areKnown: true },
    settlementNetworks: new Map([
      [
        OFFER.chainId,
        {
          chain,
          settlement,
          finality,
          admissions: { key: paymentAdmission(clock), account: paymentAdmission(clock) },
          signIns: signInAdmission(clock),
        },
      ],
    ]),
  };
  return {
    life,
    pay: (headers) => (mutation.checkout ?? checkout)(checkoutParts, headers, CLIENT),
    reconcile: () => settlement.reconcile(() => undefined),
    finality: () => finality.round(),
  };
}

const CLIENT = {
  network: '127.0.0.1',
  refusedTransfers: { count: async () => () => undefined },
};

/** The ledger, each transaction of it in its turn. Transactions that it has stored count as sent. */
function inTurns(world: World, life: Life, ledger: PaymentLedger): PaymentLedger {
  return new Proxy(ledger, {
    get:
      (target, name: keyof PaymentLedger) =>
      (...given: unknown[]) =>
        world.turns.call(life, `ledger.${name}`, async () => {
          const answer: unknown = await (target[name] as (...all: unknown[]) => Promise<unknown>)(...given);
          const transaction = given[1] as { raw?: `0x${string}` } | undefined;
          if (
            (name === 'setInFlight' || name === 'replaceTransaction') &&
            answer === true &&
            transaction?.raw
          ) {
            const signed = world.signed.get(transaction.raw);
            if (signed !== undefined) world.noteSent(signed.authorization);
          }
          return answer;
        }),
  });
}
