// Links to what can be done, and the question that each leads to: on a page of its own, or in a dialog where there is a script.
import { type Html, html } from '#shared/html.ts';
import { REASON_LENGTH_MAX } from '../../operator/procedures/fields.ts';
import { DAYS_MAX } from '../../operator/procedures/subscriptions.ts';
import { ACTION_WORDS, type ActionName } from '../actions/action-words.ts';
import type { Action, AskedField } from '../actions/actions.ts';
import { formTokenField } from '../session/forms.ts';
import type { ConsoleSession } from '../session/sessions.ts';

export type ActionLink = readonly [name: ActionName, fields: Readonly<Record<string, string>>];

const actionPath = (name: ActionName, fields: Readonly<Record<string, string>>): string =>
  `/actions/${name}?${new URLSearchParams(fields).toString()}`;

export const actionLinks = (links: readonly ActionLink[]): Html =>
  links.length === 0
    ? html``
    : html`<p class="actions">${links.map(
        ([name, fields]) =>
          html`<a class="button${ACTION_WORDS[name].isGrave ? ' grave' : ''}" href="${actionPath(name, fields)}" data-dialog>${ACTION_WORDS[name].verb}</a>`,
      )}</p>`;

export function confirmForm({
  name,
  action,
  fields,
  concerned,
  sent,
  recipients,
  session,
}: {
  name: ActionName;
  action: Action;
  fields: Readonly<Record<string, string>>;
  /** The customers whom it concerns, in a sentence. */
  concerned: string | undefined;
  /** The refund: how much goes to whom. The form brings it along, so that nothing else is sent. */
  sent: string | undefined;
  /** Numbers that a test may go to. */
  recipients: readonly string[];
  session: ConsoleSession;
}): Html {
  const { consequence, isGrave, verb } = ACTION_WORDS[name];
  const hidden = Object.entries(fields).filter(
    ([field]) => field !== 'shown' && !action.asks.some((asked) => asked === field),
  );
  return html`<form class="confirm" method="post" action="/actions/${name}">
<h1 id="question">${verb}: ${action.subject(fields)}?</h1>
<p class="consequence">${consequence}</p>
${concerned === undefined ? '' : html`<p class="problem">${concerned}.</p>`}
${sent === undefined ? '' : html`<p class="problem">It sends ${sent}.</p><input type="hidden" name="shown" value="${sent}">`}
${action.compared === undefined ? '' : comparison(action.compared(fields))}${formTokenField(session)}${hidden.map(([field, value]) => html`<input type="hidden" name="${field}" value="${value}">`)}
${action.asks.map((asked) => (asked === 'to' ? recipient(recipients) : INPUTS[asked]))}
<p class="actions"><button class="go${isGrave ? ' grave' : ''}">${verb}</button><a class="button cancel" href="${action.path(fields)}">Cancel</a></p>
</form>`;
}

const comparison = (text: string): Html => html`<p><code class="hash">${text}</code></p>
`;

const INPUTS: Readonly<Record<Exclude<AskedField, 'to'>, Html>> = {
  card: html`<label>ICCID of the new card, or its slot, such as rack-7/m3<input name="card" required maxlength="100" autocomplete="off" autofocus></label>`,
  days: html`<label>Days<input name="days" type="number" required min="1" max="${DAYS_MAX}" autofocus></label>`,
  reason: html`<label>Reason<input name="reason" required maxlength="${REASON_LENGTH_MAX}" autocomplete="off" autofocus></label>`,
};

const recipient = (numbers: readonly string[]): Html =>
  numbers.length === 0
    ? html`<p class="problem">There is no other spare SIM in service to send to.</p>`
    : html`<label>To<select name="to" required>${numbers.map((number) => html`<option>${number}</option>`)}</select></label>`;
