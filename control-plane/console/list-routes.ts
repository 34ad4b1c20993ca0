// The lists of the console as pages and as CSV, what is behind a line of them, and the search.
import type Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import * as z from 'zod';
import type { Html } from '#shared/html.ts';
import { check } from '../domain/checked-input.ts';
import { OperatorRefusal, Refusal } from '../domain/refusal.ts';
import {
  findSchema,
  LIMIT_MAX,
  numberSchema,
  PROBE_SPANS,
  paymentIdSchema,
} from '../operator/procedures/fields.ts';
import { PAYMENT_STATES } from '../payments/payment.ts';
import { listNumberEvents } from '../store/operations/number-events.ts';
import { doneWords } from './actions/action-words.ts';
import { numberPath, slotPath } from './actions/paths.ts';
import type { ConsolePageParts } from './console-parts.ts';
import { csvStream, endIfStalled } from './csv-stream.ts';
import { type ConsoleList, LISTS, listingWith, listQuery, readConsoleList } from './lists.ts';
import { foundPage } from './pages/found.ts';
import { framed } from './pages/frame.ts';
import { listPage } from './pages/listing.ts';
import { numberPage, resultWords } from './pages/number-pages.ts';
import { paymentPage, paymentsPage, refundOffer } from './pages/payment-pages.ts';
import { probesPage } from './pages/probes.ts';
import { sessionOf } from './session/request-state.ts';

const ROWS = 100;
const EVENTS = 50;
const FOUND_MAX = 20;
const PROBES_SHOWN = 10;

const numberOfPath = z.object({ number: numberSchema });
const paymentsSchema = z.object({
  state: z.enum(PAYMENT_STATES).optional().catch(undefined),
  show: z.literal('stuck').optional().catch(undefined),
  after: paymentIdSchema.optional(),
});
const paymentOfPath = z.object({ id: paymentIdSchema });
const probesSchema = z.object({ span: z.enum(PROBE_SPANS).catch('day') });
const foundSchema = z.object({ find: findSchema });

export function routeLists(router: Router, parts: ConsolePageParts): void {
  for (const list of LISTS) {
    router.get(list.path, listAsPage(parts, list));
    router.get(`${list.path}.csv`, listAsCsv(parts, list));
  }
  router.get('/find', found(parts));
  router.get('/numbers/:number', oneNumber(parts));
  router.get('/payments', payments(parts));
  router.get('/payments/:id', onePayment(parts));
  router.get('/probes', probes(parts));
}

interface Page {
  title: string;
  /** The path of its list in the navigation; empty if it is in none. */
  place: string;
  body: Html;
  /** The result of the action before it. Default: in the words of the action. */
  result?: Html | undefined;
}

function show({ serviceName }: ConsolePageParts, ctx: Context, { title, place, body, result }: Page): void {
  ctx.type = 'html';
  const done = result ?? doneWords(ctx.query['done']);
  ctx.body = framed({ title, serviceName, session: sessionOf(ctx), place, done }, body);
}

const operatorOf = ({ operatorFor }: ConsolePageParts, ctx: Context) => operatorFor(sessionOf(ctx).operator);

const listAsPage =
  (parts: ConsolePageParts, list: ConsoleList): Middleware =>
  async (ctx) => {
    const query = listQuery(list, ctx);
    const page = await readConsoleList(list, operatorOf(parts, ctx), query, ROWS);
    const { path, fields } = list;
    const { filters, order } = query;
    const listing = listingWith(list, query);
    const nowMs = parts.clock.now();
    show(parts, ctx, {
      title: listing.title,
      place: path === '/probes/all' ? '/probes' : path,
      body: listPage({ ...page, listing, path, fields, filters, order, nowMs }),
    });
  };

const listAsCsv =
  (parts: ConsolePageParts, list: ConsoleList): Middleware =>
  async (ctx) => {
    const name = list.path.slice(1).replace('/', '-');
    const query = { ...listQuery(list, ctx), after: undefined };
    const operator = operatorOf(parts, ctx);
    const body = await csvStream(
      listingWith(list, query).columns,
      ({ after, limit }) => readConsoleList(list, operator, { ...query, after }, limit),
      { isFull: false, nowMs: parts.clock.now() },
    );
    ctx.set('Content-Disposition', `attachment; filename="${name}.csv"`);
    ctx.type = 'text/csv; charset=utf-8; header=present';
    ctx.body = body;
    endIfStalled(ctx.res);
  };

/** The only number or slot that was found, or a page of all that was found. */
const found =
  (parts: ConsolePageParts): Middleware =>
  async (ctx) => {
    const { find } = check(foundSchema, ctx.query);
    const operator = operatorOf(parts, ctx);
    const asked = { find, limit: FOUND_MAX };
    const [numbers, slots, subscriptions] = await Promise.all([
      operator.call('numbers', asked),
      operator.call('slots', asked),
      operator.call('subscriptions', asked),
    ]);
    const [number, ...numbersMore] = numbers.rows;
    const [slot, ...slotsMore] = slots.rows;
    if (number !== undefined && numbersMore.length === 0 && slotsMore.length === 0)
      return ctx.redirect(numberPath(number.number));
    if (number === undefined && slot !== undefined && slotsMore.length === 0)
      return ctx.redirect(slotPath(slot));
    const body = foundPage(find, { numbers, slots, subscriptions }, parts.clock.now());
    show(parts, ctx, { title: `Found: ${find}`, place: '', body });
  };

const oneNumber =
  (parts: ConsolePageParts): Middleware =>
  async (ctx) => {
    const { number } = check(numberOfPath, ctx['params']);
    const operator = operatorOf(parts, ctx);
    const { rows } = await operator.call('numbers', { number, limit: 1 });
    const [row] = rows;
    if (row === undefined) throw new Refusal('not_found', 'There is no such number.');
    const nowMs = parts.clock.now();
    const events = await listNumberEvents(parts.db, number, { limit: EVENTS, now: new Date(nowMs) });
    const sold = await operator.call('subscriptions', { number, state: 'active', limit: 1 });
    const canRefund = parts.refunds !== undefined;
    show(parts, ctx, {
      title: number,
      place: '/numbers',
      body: numberPage(row, sold.rows[0], events, { canRefund, nowMs }),
      result: resultWords(ctx.query['done'], row, events),
    });
  };

const payments =
  (parts: ConsolePageParts): Middleware =>
  async (ctx) => {
    const { state, show: shown, after } = check(paymentsSchema, ctx.query);
    const operator = operatorOf(parts, ctx);
    const isStuck = shown === 'stuck' || undefined;
    const [page, stuck] = await Promise.all([
      operator.call('payments', { state, isStuck, after, limit: ROWS }),
      operator.call('payments', { isStuck: true, limit: ROWS }),
    ]);
    const list = { ...page, filters: { state, show: shown }, nowMs: parts.clock.now() };
    show(parts, ctx, { title: 'Payments', place: '/payments', body: paymentsPage(list, stuck.rows) });
  };

const onePayment =
  (parts: ConsolePageParts): Middleware =>
  async (ctx) => {
    const { id } = check(paymentOfPath, ctx['params']);
    const payment = await operatorOf(parts, ctx)
      .call('payment', { id })
      .catch((error: unknown) => {
        if (error instanceof OperatorRefusal) throw new Refusal('not_found', error.message);
        throw error;
      });
    const body = paymentPage(payment, refundOffer(payment, parts.refunds));
    show(parts, ctx, { title: id, place: '/payments', body });
  };

const probes =
  (parts: ConsolePageParts): Middleware =>
  async (ctx) => {
    const { span } = check(probesSchema, ctx.query);
    const operator = operatorOf(parts, ctx);
    const [carriers, slots, page] = await Promise.all([
      operator.call('probeSummary', { by: 'carrier', span }),
      operator.call('probedSlots', { span, sort: { by: 'success' }, limit: LIMIT_MAX }),
      operator.call('probes', { limit: PROBES_SHOWN }),
    ]);
    const shown = { span, carriers, slots: slots.rows, last: page.rows };
    show(parts, ctx, { title: 'Probes', place: '/probes', body: probesPage(shown, parts.clock.now()) });
  };
