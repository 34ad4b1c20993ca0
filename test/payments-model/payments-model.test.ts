// Random sequences of actions of payers, strangers, the chain and the process: no payer owns a number that is not paid for, and no payer
// pays for nothing. `PAYMENTS_SEED` repeats a run.
import t from 'tap';
import { openDatabases } from '../fixtures/database/postgres.ts';
import { acceptModelSignatures } from './authorizations.ts';
import { judge } from './judge.ts';
import { openLane } from './lane.ts';
import type { Action, Plan } from './plan.ts';
import { runMany, SEED_MAX } from './run-many.ts';
import { runSequence } from './run-sequence.ts';

const SEQUENCES = 120;
const ALL = 400;

acceptModelSignatures();
const postgres = await openDatabases(t);

t.test('random sequences break no rule', async (t) => {
  const seed = Number(process.env['PAYMENTS_SEED'] ?? Math.floor(Math.random() * (SEED_MAX - SEQUENCES)));
  t.comment(`PAYMENTS_SEED=${seed}`);
  const stories: string[] = [];
  const { counts, totals } = await runMany({
    seed,
    sequences: SEQUENCES,
    lanes: 4,
    postgres,
    onBroken: (story) => stories.push(story),
  });
  t.comment(totals);
  t.same(stories, [], `PAYMENTS_SEED=${seed} repeats it`);
  for (const seen of ['answer:paid', 'answer:settlement_pending', 'answer:payment_already_used', 'deaths'])
    t.ok((counts.get(seen) ?? 0) > SEQUENCES / 10, `${seen} was seen`);
});

/** Turns that let the transaction be broadcast, and the request not see its block. */
const UNTIL_SENT = 6;

const step = (action: Action, turns = ALL) => ({ action, turns });
const present = (authorization: number, turns = ALL) =>
  step({ kind: 'present', authorization, protocol: 'x402_v2' }, turns);

/** Bugs that random sequences have found. */
const FOUND: readonly [claim: string, plan: Partial<Plan>][] = [
  [
    'an account that lies to the simulation burns one transaction, also where the process died before its block',
    {
      payers: [{ kind: 'liar', balance: 4 }],
      steps: [
        present(0, UNTIL_SENT),
        step({ kind: 'kill', points: 1 }),
        ...Array.from({ length: 8 }, () => step({ kind: 'minutes', count: 1 })),
      ],
    },
  ],
  [
    'a payer that cancels before the transfer again and again is refused after a few',
    {
      steps: [0, 1, 2, 3, 4, 5].flatMap((authorization) => [
        present(authorization, UNTIL_SENT),
        step({ kind: 'cancel', authorization, isFirst: true }),
        step({ kind: 'minutes', count: 3 }),
      ]),
    },
  ],
  [
    'a cancellation that a reorganisation takes back does not end a payment whose transfer is mined after all',
    {
      steps: [
        present(0, UNTIL_SENT),
        step({ kind: 'cancel', authorization: 0, isFirst: true }),
        step({ kind: 'minutes', count: 1 }),
        step({ kind: 'reorganise', blocks: 60, isLost: true }),
        step({ kind: 'submit', authorization: 0, isFirst: true }),
        step({ kind: 'minutes', count: 1 }),
      ],
    },
  ],
  [
    'an end that a reorganisation takes back does not end a payment whose transfer is mined before it after all',
    {
      authorizations: [{ payer: 0, lifeS: 60, isForMpp: false }],
      steps: [
        step({ kind: 'weather', weather: { kind: 'dear' } }),
        present(0, UNTIL_SENT),
        step({ kind: 'evict' }),
        step({ kind: 'expire', authorization: 0 }),
        step({ kind: 'minutes', count: 1 }),
        step({ kind: 'seconds', count: -120 }),
        step({ kind: 'submit', authorization: 0, isFirst: true }),
        step({ kind: 'seconds', count: 2 }),
        step({ kind: 'seconds', count: 118 }),
        step({ kind: 'minutes', count: 3 }),
      ],
    },
  ],
  [
    'an authorization that is on its way from another request is not answered 402 when its payer has moved the money away',
    {
      // With this order of calls.
      seed: 108,
      steps: [
        step({ kind: 'present', authorization: 0, protocol: 'x402_v1' }, 0),
        present(0, UNTIL_SENT + 1),
        step({ kind: 'withdraw', payer: 0 }),
      ],
    },
  ],
  [
    'a payer that cancels a transfer too cheap for a block does not stop the sales behind it',
    {
      payers: [
        { kind: 'key', balance: 4 },
        { kind: 'key', balance: 4 },
      ],
      authorizations: [0, 1].map((payer) => ({ payer, lifeS: 300, isForMpp: false })),
      steps: [
        present(0, UNTIL_SENT),
        step({ kind: 'weather', weather: { kind: 'dear' } }, 0),
        step({ kind: 'cancel', authorization: 0, isFirst: true }, 0),
        step({ kind: 'minutes', count: 2 }),
        present(1),
        step({ kind: 'minutes', count: 8 }),
      ],
    },
  ],
  [
    'an authorization that is presented after its end, and was used before it, buys its year',
    {
      steps: [
        step({ kind: 'submit', authorization: 0, isFirst: true }),
        step({ kind: 'expire', authorization: 0 }),
        present(0),
      ],
    },
  ],
  [
    'a transfer that a reorganisation puts back into the pool, too cheap and too late, does not stop the sales behind it',
    {
      authorizations: [{ payer: 0, lifeS: 100, isForMpp: false }],
      steps: [
        present(0),
        step({ kind: 'expire', authorization: 0 }, 0),
        step({ kind: 'weather', weather: { kind: 'dear' } }, 0),
        step({ kind: 'reorganise', blocks: 60, isLost: false }, 0),
      ],
    },
  ],
];

t.test('sequences that failed once pass', async (t) => {
  const lane = await openLane(await postgres.createMigrated());
  t.teardown(() => lane.close());
  for (const [claim, own] of FOUND) {
    const authorizations = [0, 1, 2, 3, 4, 5].map(() => ({ payer: 0, lifeS: 86_700, isForMpp: false }));
    const payers: Plan['payers'] = [{ kind: 'key', balance: 4 }];
    const { seed: first = 1 } = own;
    for (let seed = first; seed < first + 5; seed += 1) {
      const base = { submitter: 'relayer' as const, numbers: 2, payers, authorizations, steps: [] };
      const plan: Plan = { ...base, ...own, seed };
      t.same(judge(await runSequence(plan, lane)), [], `${claim}; seed ${seed}`);
    }
  }
});
