// Subscriptions: wallet, number and end of each, wallets and numbers masked.

import { type Html, html } from '#shared/html.ts';
import { maskedNumber } from '../../domain/masked-number.ts';
import { shownWallet } from '../../domain/masked-wallet.ts';
import { SUBSCRIPTION_STATES } from '../../domain/subscription.ts';
import type { Page, Told } from '../../operator/desk-answers.ts';
import type { SubscriptionRow } from '../../store/money/subscription-list.ts';
import { numberPath } from '../actions/paths.ts';
import { choice, further, nothing } from './lists.ts';
import { badge, shownAt, table } from './shown.ts';
import type { Look } from './slot-look.ts';

export function subscriptionsPage(
  { rows, next }: Told<Page<SubscriptionRow>>,
  state: string | undefined,
  nowMs: number,
): Html {
  return html`<div class="heading"><h1>Subscriptions</h1>${choice('/subscriptions', 'state', SUBSCRIPTION_STATES, state)}</div>${
    rows.length === 0
      ? nothing('No such subscription.')
      : table(
          'Subscriptions',
          ['Number', 'State', 'Wallet', 'Since', 'Until', 'Id'],
          rows.map((row) => line(row, nowMs)),
        )
  }${further('/subscriptions', { state }, next)}`;
}

function line(
  { created_at, expires_at, id, is_bound, number, wallet }: Told<SubscriptionRow>,
  nowMs: number,
): Html {
  const look: Look =
    Date.parse(expires_at) <= nowMs
      ? { tone: 'off', sign: 'wait', words: 'expired' }
      : is_bound
        ? { tone: 'good', sign: 'check', words: 'bound' }
        : { tone: 'warn', sign: 'search', words: 'unbound' };
  return html`<tr><th scope="row"><a href="${numberPath(number)}">${maskedNumber(number)}</a></th><td>${badge(look)}</td><td>${shownWallet(
    wallet,
    false,
  )}</td><td>${shownAt(created_at)}</td><td>${shownAt(expires_at)}</td><td><code>${id}</code></td></tr>`;
}
