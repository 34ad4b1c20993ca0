// Links to what can be done, and the question that each leads to: on a page of its own, or in a dialog where there is a script.
import { type Html, html } from '#shared/html.ts';
import { DAYS_MAX, REASON_LENGTH_MAX } from '../../operator/procedures/fields.ts';
import { ACTION_WORDS, type ActionName } from '../actions/action-words.ts';
import type { Action, AskedField } from '../actions/actions.ts';
import { PREVIEWED, type Preview } from '../actions/previews.ts';
import { formTokenField } from '../session/forms.ts';
import type { ConsoleSession } from '../session/sessions.ts';
import { cellHtml } from './listing.ts';
import { facts } from './shown.ts';

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

/** The facts that the operator reads before the second press. */
interface Question {
  name: ActionName;
  action: Action;
  fields: Readonly<Record<string, string>>;
  /** The customers whom it concerns, in a sentence. */
  concerned: string | undefined;
  session: ConsoleSession;
}

/** The first question: what is done, and the fields that are asked for. An action with a preview shows that next. */
export function confirmForm({
  sent,
  numbers,
  ...question
}: Question & {
  /** The refund: how much goes to whom. The form brings it along, so that nothing else is sent. */
  sent: string | undefined;
  /** Numbers to choose from: that a test may go to, or that a subscriber may get. */
  numbers: readonly string[];
}): Html {
  const { action, fields } = question;
  const hidden = Object.entries(fields).filter(
    ([field]) => field !== 'shown' && field !== PREVIEWED && !isAsked(action, field),
  );
  return formOf(question, {
    button: action.preview === undefined ? undefined : 'Show what it does',
    body: html`${sent === undefined ? '' : html`<p class="problem">It sends ${sent}.</p><input type="hidden" name="shown" value="${sent}">`}
${action.compared === undefined ? '' : comparison(action.compared(fields))}${hiddenFields(hidden)}
${action.asks.map((asked) => inputOf(asked, fields[NAMES[asked]] ?? '', numbers))}`,
  });
}

/** The field of the form for each. */
const NAMES: Readonly<Record<AskedField, string>> = {
  card: 'card',
  days: 'days',
  newNumber: 'to',
  reason: 'reason',
  recipient: 'to',
};

const isAsked = ({ asks }: Action, field: string): boolean => asks.some((asked) => NAMES[asked] === field);

/** The second question: what would change, with the entries and what was shown. */
export function previewForm({ shown, ...question }: Question & { shown: Preview }): Html {
  const fields = Object.entries({ ...question.fields, ...shown.fields, [PREVIEWED]: 'yes' });
  return formOf(question, {
    body: html`${facts(shown.facts.map(([title, fact]) => [title, cellHtml(fact)]))}${hiddenFields(fields)}`,
  });
}

function formOf(
  { action, concerned, fields, name, session }: Question,
  { body, button }: { body: Html; button?: string | undefined },
): Html {
  const { consequence, isGrave, verb } = ACTION_WORDS[name];
  const isDone = button === undefined;
  return html`<form class="confirm" method="post" action="/actions/${name}">
<h1 id="question">${verb}: ${action.subject(fields)}?</h1>
<p class="consequence">${consequence}</p>
${concerned === undefined ? '' : html`<p class="problem">${concerned}.</p>`}
${formTokenField(session)}${body}
<p class="actions"><button class="go${isGrave && isDone ? ' grave' : ''}">${button ?? verb}</button><a class="button cancel" href="${action.path(fields)}">Cancel</a></p>
</form>`;
}

const hiddenFields = (fields: ReadonlyArray<readonly [string, string]>): Html =>
  html`${fields.map(([field, value]) => html`<input type="hidden" name="${field}" value="${value}">`)}`;

const comparison = (text: string): Html => html`<p><code class="hash">${text}</code></p>
`;

const FIELD_TITLES: Readonly<Record<string, string>> = {
  card: 'New card',
  days: 'Days',
  reason: 'Reason',
  to: 'Number',
};

/** The name of a field as the form writes it. */
export const fieldTitle = (field: string): string =>
  Object.hasOwn(FIELD_TITLES, field) ? String(FIELD_TITLES[field]) : field;

/** `entered`: in the form that was refused; empty in a new one. */
function inputOf(asked: AskedField, entered: string, numbers: readonly string[]): Html {
  switch (asked) {
    case 'card':
      return html`<label>New card: its ICCID, or its slot, such as rack-7/m3<input name="card" value="${entered}" required maxlength="100" autocomplete="off" autofocus></label>`;
    case 'days':
      return html`<label>Days<input name="days" value="${entered}" type="number" required min="1" max="${DAYS_MAX}" autofocus></label>`;
    case 'reason':
      return html`<label>Reason<input name="reason" value="${entered}" required maxlength="${REASON_LENGTH_MAX}" autocomplete="off" autofocus></label>`;
    case 'newNumber':
      return html`<label>New number<select name="to"><option value="">any that is on sale</option>${options(numbers, entered)}</select></label>`;
    case 'recipient':
      return numbers.length === 0
        ? html`<p class="problem">There is no other spare SIM in service to send to.</p>`
        : html`<label>To<select name="to" required>${options(numbers, entered)}</select></label>`;
  }
}

const options = (numbers: readonly string[], entered: string): Html[] =>
  numbers.map((number) => html`<option${number === entered ? ' selected' : ''}>${number}</option>`);
