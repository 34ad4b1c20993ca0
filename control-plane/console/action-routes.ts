// A change from the console: a page that asks once more, then a form that only a page of the session can send.
import type Router from '@koa/router';
import type { Context } from 'koa';
import * as z from 'zod';
import { check } from '../domain/checked-input.ts';
import { Refusal } from '../domain/refusal.ts';
import { shownEffect } from '../domain/shown-value.ts';
import { planOf, refuseTooEarly, shownRefunds } from '../operator/end-subscription.ts';
import { PROCEDURES } from '../operator/procedures/all-procedures.ts';
import { ACTION_WORDS, type ActionName } from './actions/action-words.ts';
import { ACTIONS } from './actions/actions.ts';
import type { ConsolePageParts } from './console-parts.ts';
import { confirmForm } from './pages/confirm.ts';
import { framed } from './pages/frame.ts';
import { spareNumberOf } from './pages/slot-status.ts';
import { readOwnForm } from './session/forms.ts';
import { sessionOf } from './session/request-state.ts';

const endedSchema = PROCEDURES.planRefund.input.pick({ id: true, number: true });
const NAMES = Object.keys(ACTIONS) as [ActionName, ...ActionName[]];
const nameSchema = z.object({ name: z.enum(NAMES, 'there is no such action') });

/** Of a field that a link brings along. */
const FIELD_LENGTH_MAX = 300;
const FIELDS_MAX = 8;

/** Numbers that a test may go to. */
const RECIPIENTS_MAX = 200;

export function routeActions(router: Router, parts: ConsolePageParts): void {
  const { operatorFor, refunds, serviceName, view } = parts;

  router.get('/actions/:name', async (ctx) => {
    const { name } = check(nameSchema, ctx['params']);
    const session = sessionOf(ctx);
    const { link, seen } = ACTIONS[name];
    const given = fieldsOf(ctx);
    if (link !== undefined) check(link, given);
    const fields = { ...given, ...(await seen?.(given, operatorFor(session.operator))) };
    const recipients = ACTIONS[name].asks.includes('to') ? await spareNumbers() : [];
    const { concerns } = ACTIONS[name];
    const concerned =
      concerns &&
      shownEffect(concerns.effect, await concerns.customers(fields, operatorFor(session.operator)));
    const sent =
      ACTIONS[name].refunds === true
        ? await refundsOf(operatorFor(session.operator), check(endedSchema, fields))
        : undefined;
    const form = confirmForm({
      name,
      concerned,
      sent,
      fields,
      session,
      action: ACTIONS[name],
      recipients: recipients.filter((number) => number !== fields['from']),
    });
    ctx.type = 'html';
    ctx.body = framed({ title: ACTION_WORDS[name].verb, serviceName, session, place: '' }, form);
  });

  router.post('/actions/:name', async (ctx) => {
    const { name } = check(nameSchema, ctx['params']);
    const session = sessionOf(ctx);
    const fields = await readOwnForm(ctx, session);
    const action = ACTIONS[name];
    try {
      await action.run(fields, {
        operator: operatorFor(session.operator),
        refunds,
        closeRefund: parts.closeRefund,
      });
    } finally {
      view.changed();
      parts.feed.touch();
    }
    const path = action.path(fields);
    ctx.status = 303;
    ctx.redirect(`${path}${path.includes('?') ? '&' : '?'}done=${name}`);
  });

  async function spareNumbers(): Promise<string[]> {
    const slots = (await view.fleet()).flatMap((node) => node.slots);
    return slots.flatMap((slot) => spareNumberOf(slot) ?? []).slice(0, RECIPIENTS_MAX);
  }
}

/** As the form shows them. Throws if they cannot be sent now. */
async function refundsOf(...asked: Parameters<typeof planOf>): Promise<string> {
  const plan = await planOf(...asked);
  refuseTooEarly(plan);
  return shownRefunds(plan, false);
}

/** As the link has them; they are checked when something is done. */
function fieldsOf(ctx: Context): Record<string, string> {
  const entries = [...new URLSearchParams(ctx.querystring)];
  if (entries.length > FIELDS_MAX || entries.some(([, value]) => value.length > FIELD_LENGTH_MAX))
    throw new Refusal('invalid_request', 'this link has too many fields');
  return Object.fromEntries(entries);
}
