// The lists of the console, what is behind a line of them, and the search for a number.
import type Router from '@koa/router';
import type { Context } from 'koa';
import * as z from 'zod';
import type { Html } from '#shared/html.ts';
import { check } from '../domain/checked-input.ts';
import { NUMBER_STATES } from '../domain/number-state.ts';
import { OperatorRefusal, Refusal } from '../domain/refusal.ts';
import { SUBSCRIPTION_STATES } from '../domain/subscription.ts';
import { AUDIT_LOG } from '../operator/listings/audit-log.ts';
import { NUMBERS } from '../operator/listings/numbers.ts';
import { SUBSCRIPTIONS } from '../operator/listings/subscriptions.ts';
import {
  numberSchema,
  PROBE_SPANS,
  paymentIdSchema,
  positionSchema,
  subscriptionIdSchema,
} from '../operator/procedures/fields.ts';
import { PAYMENT_STATES } from '../payments/payment.ts';
import { findNumbersEnding } from '../store/fleet/numbers.ts';
import { listNumberEvents } from '../store/operations/events.ts';
import { doneWords } from './actions/action-words.ts';
import { numberPath } from './actions/paths.ts';
import type { ConsolePageParts } from './console-parts.ts';
import { framed } from './pages/frame.ts';
import { listPage } from './pages/listing.ts';
import { foundPage, numberPage } from './pages/number-pages.ts';
import { paymentPage, paymentsPage, refundOffer } from './pages/payment-pages.ts';
import { probesPage } from './pages/probes.ts';
import { sessionOf } from './session/request-state.ts';

const ROWS = 100;
const EVENTS = 50;
const FOUND_MAX = 20;

/** An unknown state shows all. */
const numbersSchema = z.object({
  state: z.enum(NUMBER_STATES).optional().catch(undefined),
  after: numberSchema.optional(),
  find: z.string().max(40).optional(),
});
const numberOfPath = z.object({ number: numberSchema });
const subscriptionsSchema = z.object({
  state: z.enum(SUBSCRIPTION_STATES).optional().catch(undefined),
  after: subscriptionIdSchema.optional(),
});
const paymentsSchema = z.object({
  state: z.enum(PAYMENT_STATES).optional().catch(undefined),
  show: z.literal('stuck').optional().catch(undefined),
  after: paymentIdSchema.optional(),
});
const paymentOfPath = z.object({ id: paymentIdSchema });

const position = z.coerce.number().pipe(positionSchema).optional();
const probesSchema = z.object({ span: z.enum(PROBE_SPANS).catch('day'), after: position });
const auditSchema = z.object({ after: position });

export function routeLists(
  router: Router,
  { clock, db, operatorFor, refunds, serviceName }: ConsolePageParts,
): void {
  const show = (ctx: Context, title: string, place: string, body: Html): void => {
    ctx.type = 'html';
    const done = doneWords(ctx.query['done']);
    ctx.body = framed({ title, serviceName, session: sessionOf(ctx), place, done }, body);
  };
  const operatorOf = (ctx: Context) => operatorFor(sessionOf(ctx).operator);

  router.get('/numbers', async (ctx) => {
    const { state, after, find } = check(numbersSchema, ctx.query);
    if (find !== undefined) return search(ctx, find);
    const page = await operatorOf(ctx).call('numbers', { state, after, limit: ROWS });
    const choice = { name: 'state', values: NUMBER_STATES };
    const list = { listing: NUMBERS, path: '/numbers', filters: { state }, choice, nowMs: clock.now() };
    show(ctx, 'Numbers', '/numbers', listPage({ ...page, ...list }));
  });

  async function search(ctx: Context, text: string): Promise<void> {
    const digits = text.replace(/[^\d]/g, '');
    const found = digits === '' ? [] : await findNumbersEnding(db, digits, FOUND_MAX);
    const [only] = found;
    if (found.length === 1 && only !== undefined) ctx.redirect(numberPath(only.number));
    else show(ctx, 'Numbers', '/numbers', foundPage(text, found));
  }

  router.get('/numbers/:number', async (ctx) => {
    const { number } = check(numberOfPath, ctx['params']);
    const { rows } = await operatorOf(ctx).call('numbers', { number, limit: 1 });
    const [row] = rows;
    if (row === undefined) throw new Refusal('not_found', 'there is no such number');
    const events = await listNumberEvents(db, number, EVENTS);
    const sold = await operatorOf(ctx).call('subscriptions', { number, state: 'active', limit: 1 });
    show(
      ctx,
      number,
      '/numbers',
      numberPage(row, sold.rows[0], events, { canRefund: refunds !== undefined }),
    );
  });

  router.get('/subscriptions', async (ctx) => {
    const { state, after } = check(subscriptionsSchema, ctx.query);
    const page = await operatorOf(ctx).call('subscriptions', { state, after, limit: ROWS });
    const choice = { name: 'state', values: SUBSCRIPTION_STATES };
    const list = { listing: SUBSCRIPTIONS, path: '/subscriptions', filters: { state }, choice };
    show(ctx, 'Subscriptions', '/subscriptions', listPage({ ...page, ...list, nowMs: clock.now() }));
  });

  router.get('/payments', async (ctx) => {
    const { state, show: shown, after } = check(paymentsSchema, ctx.query);
    const operator = operatorOf(ctx);
    const isStuck = shown === 'stuck' || undefined;
    const [page, stuck] = await Promise.all([
      operator.call('payments', { state, isStuck, after, limit: ROWS }),
      operator.call('payments', { isStuck: true, limit: ROWS }),
    ]);
    const list = { ...page, filters: { state, show: shown }, nowMs: clock.now() };
    show(ctx, 'Payments', '/payments', paymentsPage(list, stuck.rows));
  });

  router.get('/payments/:id', async (ctx) => {
    const { id } = check(paymentOfPath, ctx['params']);
    const payment = await operatorOf(ctx)
      .call('payment', { id })
      .catch((error: unknown) => {
        if (error instanceof OperatorRefusal) throw new Refusal('not_found', error.message);
        throw error;
      });
    show(ctx, id, '/payments', paymentPage(payment, refundOffer(payment, refunds)));
  });

  router.get('/probes', async (ctx) => {
    const { span, after } = check(probesSchema, ctx.query);
    const operator = operatorOf(ctx);
    const [carriers, slots, page] = await Promise.all([
      operator.call('probeSummary', { by: 'carrier', span }),
      operator.call('probeSummary', { by: 'slot', span }),
      operator.call('probes', { after, limit: ROWS }),
    ]);
    show(ctx, 'Probes', '/probes', probesPage({ span, carriers, slots, page }, clock.now()));
  });

  router.get('/audit', async (ctx) => {
    const { after } = check(auditSchema, ctx.query);
    const page = await operatorOf(ctx).call('auditLog', { after, limit: ROWS });
    const list = { listing: AUDIT_LOG, path: '/audit', nowMs: clock.now() };
    show(ctx, 'Audit log', '/audit', listPage({ ...page, ...list }));
  });
}
