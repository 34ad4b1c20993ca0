// A change from the console: a page that asks once more, then a form that only a page of the session can send.
import type Router from '@koa/router';
import type { Context } from 'koa';
import * as z from 'zod';
import type { Html } from '#shared/html.ts';
import { check } from '../domain/checked-input.ts';
import { Refusal } from '../domain/refusal.ts';
import { shownEffect } from '../domain/shown-value.ts';
import { planOf, refuseTooEarly, shownRefunds } from '../operator/end-subscription.ts';
import { type Operator, PROCEDURES } from '../operator/procedures/all-procedures.ts';
import { ACTION_WORDS, type ActionName } from './actions/action-words.ts';
import { ACTIONS, type Action } from './actions/actions.ts';
import { PREVIEWED } from './actions/previews.ts';
import type { ConsolePageParts } from './console-parts.ts';
import { confirmForm, previewForm } from './pages/confirm.ts';
import { framed } from './pages/frame.ts';
import { spareNumberOf } from './pages/slot-status.ts';
import { readOwnForm } from './session/forms.ts';
import { note, sessionOf } from './session/request-state.ts';

const endedSchema = PROCEDURES.planRefund.input.pick({ id: true, number: true });
const NAMES = Object.keys(ACTIONS) as [ActionName, ...ActionName[]];
const nameSchema = z.object({ name: z.enum(NAMES, 'There is no such action.') });

/** Characters of a field that a link carries. */
const FIELD_LENGTH_MAX = 300;
const FIELDS_MAX = 8;

/** To choose from. */
const NUMBERS_MAX = 200;

/** They say what was shown: the next question shows it as it is then. */
const SHOWN: ReadonlySet<string> = new Set(['expected', 'shown', PREVIEWED]);

export function routeActions(router: Router, parts: ConsolePageParts): void {
  const { operatorFor, refunds, serviceName, view } = parts;

  router.get('/actions/:name', async (ctx) => {
    const { name } = check(nameSchema, ctx['params']);
    const session = sessionOf(ctx);
    const action = ACTIONS[name];
    const { link, seen } = action;
    const given = fieldsOf(ctx);
    if (link !== undefined) check(link, given);
    note(ctx, { back: { page: action.path(given) } });
    const operator = operatorFor(session.operator);
    const fields = { ...given, ...(await seen?.(given, operator)) };
    const numbers = await numbersFor(action, { operator, view });
    const form = confirmForm({
      name,
      concerned: await concernedBy(action, fields, operator),
      sent:
        action.refunds === true ? await refundsOf(parts, operator, check(endedSchema, fields)) : undefined,
      fields,
      session,
      action,
      numbers: numbers.filter((number) => number !== fields['from']),
    });
    show(ctx, name, form);
  });

  router.post('/actions/:name', async (ctx) => {
    const { name } = check(nameSchema, ctx['params']);
    const session = sessionOf(ctx);
    const fields = await readOwnForm(ctx, session);
    const action = ACTIONS[name];
    const operator = operatorFor(session.operator);
    note(ctx, { back: { page: action.path(fields), question: questionOf(name, fields) } });
    if (action.preview !== undefined && fields[PREVIEWED] === undefined) {
      const shown = await action.preview(fields, operator);
      const concerned = await concernedBy(action, fields, operator);
      return show(ctx, name, previewForm({ name, action, fields, concerned, session, shown }));
    }
    try {
      await action.run(fields, { operator, refunds, closeRefund: parts.closeRefund });
    } finally {
      view.changed();
      parts.feed.touch();
    }
    const path = (action.resultPath ?? action.path)(fields);
    ctx.status = 303;
    ctx.redirect(`${path}${path.includes('?') ? '&' : '?'}done=${name}`);
  });

  function show(ctx: Context, name: ActionName, form: Html): void {
    ctx.type = 'html';
    const { verb: title } = ACTION_WORDS[name];
    ctx.body = framed({ title, serviceName, session: sessionOf(ctx), place: '' }, form);
  }
}

/** To choose from. */
async function numbersFor(
  { asks }: Action,
  { operator, view }: { operator: Operator } & Pick<ConsolePageParts, 'view'>,
): Promise<string[]> {
  if (asks.includes('newNumber')) {
    const { rows } = await operator.call('numbers', { state: 'available', limit: NUMBERS_MAX });
    return rows.map(({ number }) => number);
  }
  if (!asks.includes('recipient')) return [];
  const slots = (await view.fleet()).flatMap((node) => node.slots);
  return slots.flatMap((slot) => spareNumberOf(slot) ?? []).slice(0, NUMBERS_MAX);
}

/** The customers whom it concerns, in a sentence. */
async function concernedBy(
  { concerns }: Action,
  fields: Readonly<Record<string, string>>,
  operator: Operator,
): Promise<string | undefined> {
  return concerns && shownEffect(concerns.effect, await concerns.customers(fields, operator));
}

/** The link to the question, with what was entered. */
function questionOf(name: ActionName, fields: Readonly<Record<string, string>>): string {
  const kept = Object.entries(fields).filter(
    ([field, value]) => !SHOWN.has(field) && value.length <= FIELD_LENGTH_MAX,
  );
  return `/actions/${name}?${new URLSearchParams(kept.slice(0, FIELDS_MAX)).toString()}`;
}

/** As the form shows them. Throws if they cannot be sent now. */
async function refundsOf(
  { clock }: Pick<ConsolePageParts, 'clock'>,
  ...asked: Parameters<typeof planOf>
): Promise<string> {
  const plan = await planOf(...asked);
  refuseTooEarly(plan, clock);
  return shownRefunds(plan, false);
}

/** As the link has them; they are checked when something is done. */
function fieldsOf(ctx: Context): Record<string, string> {
  const entries = [...new URLSearchParams(ctx.querystring)];
  if (entries.length > FIELDS_MAX || entries.some(([, value]) => value.length > FIELD_LENGTH_MAX))
    throw new Refusal('invalid_request', 'This link has too many fields.');
  return Object.fromEntries(entries);
}
