// The judge can fail: parts of the service that are wrong on purpose, each caught by the rule that is there for it.
import t from 'tap';
import { Refusal } from '#control-plane/domain/refusal.ts';
import { checkout } from '#control-plane/payments/checkout.ts';
import { PaymentRejected } from '#control-plane/payments/rejection.ts';
import { openDatabases } from '../fixtures/database/postgres.ts';
import { acceptModelSignatures } from './authorizations.ts';
import { judge, type Rule } from './judge.ts';
import { openLane } from './lane.ts';
import type { Plan, Step } from './plan.ts';
import { runSequence } from './run-sequence.ts';
import type { Mutation } from './service-process.ts';

const ALL = 400;

acceptModelSignatures();
const postgres = await openDatabases(t);
const lane = await openLane(await postgres.createMigrated());
t.teardown(() => lane.close());

const present: Step = { action: { kind: 'present', authorization: 0, protocol: 'x402_v2' }, turns: ALL };
const presentOther: Step = { action: { kind: 'present', authorization: 1, protocol: 'x402_v1' }, turns: ALL };
const replay: Step = { action: { kind: 'present', authorization: 0, protocol: 'x402_v1' }, turns: ALL };
const submit: Step = { action: { kind: 'submit', authorization: 0, isFirst: true }, turns: 0 };
const minutes: Step = { action: { kind: 'minutes', count: 2 }, turns: ALL };
const cancel: Step = { action: { kind: 'cancel', authorization: 0, isFirst: true }, turns: 0 };
const signIn: Step = { action: { kind: 'sign_in', payer: 0 }, turns: ALL };

const planWith = (steps: readonly Step[], kind: 'key' | 'liar' = 'key'): Plan => ({
  seed: 1,
  submitter: 'relayer',
  numbers: 2,
  payers: [{ kind, balance: 4 }],
  authorizations: [0, 1, 2, 3, 4].map(() => ({ payer: 0, lifeS: 300, isForMpp: false })),
  steps,
});

/** Its calls reach a ledger or chain that does one thing otherwise. */
const altered = <T extends object>(part: T, changes: Partial<T>): T => ({ ...part, ...changes });

/** Broken rules with a few seeds: each has another order of calls. */
async function brokenRules(plan: Plan, mutation: Mutation): Promise<Rule[]> {
  const broken = new Set<Rule>();
  for (let seed = 1; seed <= 5; seed += 1) {
    const findings = judge(await runSequence({ ...plan, seed }, lane, mutation));
    for (const { rule } of findings) broken.add(rule);
  }
  return [...broken].sort();
}

const MUTATIONS: readonly [name: string, mutation: Mutation, plan: Plan, rule: Rule][] = [
  [
    'a ledger that gives two years for one transfer',
    {
      ledger: (ledger) =>
        altered(ledger, {
          async apply(id, hash, now) {
            const applied = await ledger.apply(id, hash, now);
            const { db } = lane;
            if (applied) {
              const expires_at = new Date(applied.subscription.expiresAt);
              expires_at.setUTCFullYear(expires_at.getUTCFullYear() + 1);
              await db.updateTable('subscriptions').set({ expires_at }).execute();
            }
            return applied;
          },
        }),
    },
    planWith([present]),
    'years',
  ],
  [
    'a checkout that mints a token for a replay',
    {
      checkout: async (...given) => {
        const [parts] = given;
        try {
          return await checkout(...given);
        } catch (error) {
          if (!(error instanceof Refusal) || error.code !== 'payment_already_used') throw error;
          const now = new Date(parts.clock.now());
          const subscription = {
            id: 'sub',
            wallet: '',
            number: '',
            accountChainId: undefined,
            createdAt: now,
            expiresAt: now,
          };
          return { subscription, renewed: true, receipt: {}, named: undefined };
        }
      },
    },
    planWith([present, replay]),
    'token_twice',
  ],
  [
    'a checkout that asks for money again while a payment is open',
    {
      checkout: (...given) =>
        checkout(...given).catch((error: unknown) => {
          throw error instanceof Refusal && error.code === 'settlement_pending'
            ? new PaymentRejected('payment_required')
            : error;
        }),
    },
    planWith([{ ...present, turns: 8 }, replay]),
    'invited_twice',
  ],
  [
    'a chain that hides a transfer for ever',
    {
      chain: (chain) =>
        altered(chain, {
          isNonceUsed: async () => false,
          resultOf: async () => ({ kind: 'unknown' }),
          awaitResult: async () => ({ kind: 'unknown' }),
        }),
    },
    planWith([present, minutes]),
    'money_without_year',
  ],
  [
    'a chain that shows a transfer that is none',
    {
      chain: (chain) =>
        altered(chain, {
          awaitResult: async (_authorization, transaction) => ({
            kind: 'transferred',
            transaction,
            blockNumber: 1n,
          }),
          resultOf: async (_authorization, transaction) => ({
            kind: 'transferred',
            transaction,
            blockNumber: 1n,
          }),
        }),
    },
    planWith([present], 'liar'),
    'year_without_money',
  ],
  [
    'a ledger that forgets what was in flight',
    {
      ledger: (ledger) =>
        altered(ledger, { setReverted: ledger.releaseUnshown as never, setVoid: ledger.releaseUnshown }),
    },
    planWith([present, submit, minutes], 'liar'),
    'money_lost',
  ],
  [
    'a ledger that lets a payer open another payment at once',
    {
      ledger: (ledger) =>
        altered(ledger, {
          async claim(authorization, terms) {
            await lane.db.updateTable('payments').set({ payer: 'no wallet' }).execute();
            const claim = await ledger.claim(authorization, terms);
            await lane.db.updateTable('payments').set({ payer: authorization.from.toLowerCase() }).execute();
            return claim;
          },
        }),
    },
    planWith([
      { ...present, turns: 5 },
      { ...presentOther, turns: 6 },
    ]),
    'two_reservations',
  ],
  [
    'a ledger that gives no number back',
    {
      ledger: (ledger) =>
        altered(ledger, { setVoid: async () => undefined, setReverted: async () => undefined }),
    },
    planWith([{ ...present, turns: 6 }, cancel, minutes]),
    'number_held',
  ],
  [
    'a ledger that does not count what was refused',
    {
      ledger: (ledger) =>
        altered(ledger, {
          setReverted: async (id, failure, now) => {
            await ledger.setReverted(id, failure, now);
            await lane.db.deleteFrom('payment_events').execute();
          },
        }),
    },
    planWith(
      [0, 1, 2, 3, 4].flatMap((authorization): Step[] => [
        { action: { kind: 'present', authorization, protocol: 'x402_v2' }, turns: ALL },
        { action: { kind: 'expire', authorization }, turns: ALL },
        minutes,
      ]),
      'liar',
    ),
    'gas',
  ],
  [
    'a ledger that forgets the transactions of payments that ended',
    { ledger: (ledger) => altered(ledger, { sent: async () => [] }) },
    planWith([
      { ...present, turns: 6 },
      { action: { kind: 'weather', weather: { kind: 'dear' } }, turns: 0 },
      cancel,
      minutes,
    ]),
    'sales_blocked',
  ],
];

for (const [name, mutation, plan, rule] of MUTATIONS) {
  t.test(`${name} breaks the rule ${rule}`, async (t) => {
    t.same(await brokenRules(plan, {}), [], 'the service as it is breaks none');
    const broken = await brokenRules(plan, mutation);
    t.ok(broken.includes(rule), `broken: ${broken.join(', ')}`);
  });
}

t.test('sign-ins and transfers by others are judged, too', async (t) => {
  const record = await runSequence(planWith([submit, minutes, present, signIn]), lane);
  t.same(judge(record), []);
  t.match(record.presentations, [{ answer: { kind: 'refused', code: 'payment_already_used' } }]);
  t.match(record.signIns, [{ answer: 'active' }]);
  const [row] = record.rows;
  const [signedIn] = record.signIns;
  if (row === undefined || signedIn === undefined) throw new Error('nothing was seen');
  const rulesOf = (changed: Partial<typeof record>) =>
    judge({ ...record, ...changed }).map(({ rule }) => rule);
  t.same(rulesOf({ rows: [] }), ['money_lost', 'years']);
  t.same(rulesOf({ rows: [{ ...row, state: 'taken_back' }] }), ['wrongly_marked']);
  t.same(rulesOf({ rows: [{ ...row, state: 'void' }] }), ['money_without_year', 'years']);
  const invited = { ...signedIn, answer: 'no_active_subscription' as const, openAuthorizations: [0] };
  t.same(rulesOf({ signIns: [invited] }), ['sign_in_invites']);
});
