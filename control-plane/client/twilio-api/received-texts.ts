// Posts the texts that numbers receive to an app, one after the other, and sends the replies of its TwiML.
import { sleep, systemClock } from '#shared/clock.ts';
import { ApiError } from '../api-error.ts';
import { BotError } from '../bridge/bot.ts';
import { AppUnreachableError } from '../bridge/bot-request.ts';
import { askTwilioApp } from '../bridge/twilio-request.ts';
import type { InboundMessage } from '../claimed-messages.ts';
import { API_VERSION, destinationOf, type Phone, type TwilioAccount } from './account.ts';
import { isAppUrl } from './fields.ts';
import type { Messages } from './messages.ts';
import { TwilioRefusal } from './refusal.ts';
import { messageSidOf } from './sids.ts';
import { readTextReplies, type TextReply } from './text-reply.ts';

const POLL_MS = 500;

/** After an error of the service. */
const TROUBLE_MS = 5_000;

/** An app that restarts does not lose a text. */
const ATTEMPT_PAUSES_MS = [1_000, 2_000, 5_000, 10_000];

/** An app that has a text when the API stops gets this long to answer it. */
const FINISH_MS = 5_000;

/** Errors that waiting does not solve. */
const FINAL_STATUSES: ReadonlySet<number> = new Set([400, 401, 403, 404]);

interface Route {
  account: TwilioAccount;
  messages: Messages;
  /** The URL of the app. */
  url: string;
}

/** Until the end of the account. Texts are claimed one by one: those behind an app that hangs stay at the service. */
export async function postReceivedTexts(route: Route, phone: Phone): Promise<void> {
  const { account } = route;
  const { signal } = account;
  while (!signal.aborted) {
    let pauseMs = POLL_MS;
    try {
      const { messages } = await phone.client.receive({ limit: 1 });
      for (const message of messages) {
        await post(route, phone, message);
        pauseMs = 0;
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      account.note(`texts to ${phone.number} cannot be received: ${error.message}`);
      if (FINAL_STATUSES.has(error.status)) return;
      pauseMs = Math.max(TROUBLE_MS, (error.retryAfterSeconds ?? 0) * 1000);
    }
    if (pauseMs > 0) await sleep(systemClock, pauseMs, signal).catch(() => undefined);
  }
}

/** An error with one text is a note: the next ones are posted. */
async function post(route: Route, phone: Phone, message: InboundMessage): Promise<void> {
  const { account } = route;
  try {
    const answer = await asked(route, message);
    for (const reply of readTextReplies(answer, new Set(account.skipped)))
      await send(route, phone, message, reply);
  } catch (error) {
    const isKnown = error instanceof BotError || error instanceof TwilioRefusal;
    const isStopped = !isKnown && account.signal.aborted;
    const why = isStopped ? 'the API was stopped' : isKnown ? error.message : String(error);
    const from = message.from_number === '' ? 'without a sender' : `from ${message.from_number}`;
    account.note(`a text ${from} (it stays in the history): ${why}`);
  }
}

/** Repeated only if the app did not get it, and the API goes on. */
async function asked({ account, url }: Route, message: InboundMessage): Promise<string> {
  const { authToken, signal } = account;
  const request = { url, fields: fieldsOf(account, message), authToken };
  const late = lateSignalOf(signal, FINISH_MS);
  try {
    for (const pauseMs of ATTEMPT_PAUSES_MS) {
      try {
        return await askTwilioApp(request, late.signal);
      } catch (error) {
        if (!(error instanceof AppUnreachableError)) throw error;
        await sleep(systemClock, pauseMs, signal);
      }
    }
    return await askTwilioApp(request, late.signal);
  } finally {
    late.unlink();
  }
}

/** A signal that aborts `delayMs` after `signal`. */
function lateSignalOf(signal: AbortSignal, delayMs: number): { signal: AbortSignal; unlink(): void } {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    timer = setTimeout(() => late.abort(), delayMs);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return {
    signal: late.signal,
    unlink() {
      signal.removeEventListener('abort', onAbort);
      clearTimeout(timer);
    },
  };
}

/** https://www.twilio.com/docs/messaging/guides/webhook-request */
function fieldsOf({ sid: accountSid }: TwilioAccount, message: InboundMessage): Record<string, string> {
  const sid = messageSidOf(message.id);
  return {
    AccountSid: accountSid,
    ApiVersion: API_VERSION,
    Body: message.body,
    From: message.from_number,
    MessageSid: sid,
    NumMedia: '0',
    NumSegments: '1',
    SmsMessageSid: sid,
    SmsSid: sid,
    SmsStatus: 'received',
    To: message.to_number,
    ...(message.opt_out_type === null ? {} : { OptOutType: message.opt_out_type.toUpperCase() }),
  };
}

async function send(
  { messages }: Route,
  phone: Phone,
  { from_number: sender }: InboundMessage,
  { body, to = sender, statusCallback: url }: TextReply,
): Promise<void> {
  if (body === '') throw new BotError('a <Message> of its TwiML has no text');
  if (url !== undefined && !isAppUrl(url)) throw new BotError(`not an http or https URL: ${url}`);
  await messages.send(phone, { to: destinationOf(to, 21_604), body, url });
}
