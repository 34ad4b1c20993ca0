// The operator procedures for numbers and their subscriptions.
import { admitNumber } from '../store/fleet/number-admission.ts';
import {
  importNumbers,
  listNumbers,
  releaseNumber,
  retireNumber,
  setOutOfService,
} from '../store/fleet/numbers.ts';
import { endSubscription, listSubscriptions } from '../store/money/subscription-list.ts';
import { type DeskCalls, page } from './desk-answers.ts';

type NumberCall =
  | ('numbers' | 'takeOutOfService' | 'putInService' | 'retire' | 'releaseNumber' | 'admitNumber')
  | ('importNumbers' | 'subscriptions' | 'endSubscription');

export const numberDesk = ({ now }: { now: () => Date }): DeskCalls<NumberCall> => ({
  numbers: async (query, db) =>
    page(await listNumbers(db, query, now()), query.limit, ({ number }) => number),
  takeOutOfService: async ({ number, reason }, db) => {
    await setOutOfService(db, number, reason, now());
    return null;
  },
  putInService: async ({ number }, db) => {
    await setOutOfService(db, number, undefined, now());
    return null;
  },
  retire: async ({ number }, db) => {
    await retireNumber(db, number, now());
    return null;
  },
  releaseNumber: async ({ number }, db) => {
    await releaseNumber(db, number, now());
    return null;
  },
  admitNumber: async ({ number }, db) => {
    await admitNumber(db, number);
    return null;
  },
  importNumbers: ({ rows }, db) => importNumbers(db, rows, now()),
  endSubscription: async ({ id }, db) => ({ expires_at: await endSubscription(db, id, now()) }),
  subscriptions: async (query, db) =>
    page(await listSubscriptions(db, query, now()), query.limit, ({ id }) => id),
});
