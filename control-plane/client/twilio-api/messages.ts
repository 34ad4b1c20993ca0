// The resource Messages: texts that an app sends and lists, and their status callbacks.
import { LRUCache } from 'lru-cache';
import { sleep, systemClock } from '#shared/clock.ts';
import { isApiError } from '../api-error.ts';
import type { HistoryMessage } from '../simrack-client.ts';
import {
  API_VERSION,
  destinationOf,
  findRow,
  type Phone,
  phoneOf,
  SEARCHED_MAX,
  type TwilioAccount,
} from './account.ts';
import { Fields } from './fields.ts';
import { isEmptyPeriod, LIST_FIELDS, type TwilioListQuery, timesOf, twilioPageOf } from './list-query.ts';
import { readTwilioList } from './listing.ts';
import { isFailure, isFinal, type MessageView, messageStatusOf, messageViewOf } from './message-json.ts';
import { invalid, notFinished } from './refusal.ts';
import { TwilioMessage } from './sent-text.ts';
import { messageIdOfSid, messageSidOf } from './sids.ts';

/** Twilio's limit. */
const BODY_CHARACTERS_MAX = 1_600;

/** A request waits this long for the carrier; after that its answer is the status `sending`. */
const ANSWER_MS = 10_000;

/** Texts of the API whose statuses are known without the history. */
const REMEMBERED_MAX = 10_000;

const PAGE_LIMIT = 100;

/** Statuses of texts with a callback are read this often; of older ones less often. */
const POLL_MS = 2_000;
const POLL_MS_MAX = 60_000;
const FOLLOWED_MS = 86_400_000;

const FIELDS = ['To', 'From', 'Body', 'StatusCallback', 'SmartEncoded'];

interface Followed {
  text: TwilioMessage;
  nextAtMs: number;
}

export class Messages {
  readonly #account: TwilioAccount;
  readonly #texts = new LRUCache<string, TwilioMessage>({ max: REMEMBERED_MAX });
  /** By the service's ids of their parts. */
  readonly #byMessageId = new LRUCache<string, TwilioMessage>({ max: REMEMBERED_MAX });
  readonly #followed = new Map<string, Followed>();
  #following: Promise<void> | undefined;

  constructor(account: TwilioAccount) {
    this.#account = account;
  }

  /** Sends a text. Throws `TwilioRefusal`. */
  async create(values: URLSearchParams): Promise<MessageView> {
    const fields = new Fields(values, FIELDS, new Set(this.#account.skipped));
    const to = destinationOf(fields.get('To'), 21_604);
    const phone = phoneOf(this.#account, fields.get('From'), { missing: 21_603, foreign: 21_606 });
    const body = fields.get('Body');
    if (body === undefined) throw invalid(21_602, 'Message body is required.');
    const url = fields.url('StatusCallback', 21_609);
    const transliterate = fields.get('SmartEncoded')?.toLowerCase() === 'true';
    return this.send(phone, { to, body, transliterate, url });
  }

  /** Throws `TwilioRefusal`. Resolves after 10 s at the latest. */
  async send(
    phone: Phone,
    {
      url,
      transliterate = false,
      ...text
    }: { to: string; body: string; transliterate?: boolean; url?: string | undefined },
  ): Promise<MessageView> {
    // An app that answers texts would answer itself for ever.
    if (text.to === phone.number) throw invalid(21_266, 'The To and From numbers cannot be the same.');
    if (text.body.length > BODY_CHARACTERS_MAX)
      throw invalid(21_617, `The body has more than ${BODY_CHARACTERS_MAX} characters.`);
    const sent = new TwilioMessage(
      phone,
      { ...text, transliterate },
      {
        onStatus: (changed) => this.#onStatus(changed, url),
        isOfOther: (id, one) => (this.#byMessageId.get(id) ?? one) !== one,
      },
    );
    this.#texts.set(sent.sid, sent);
    let isLate = false as boolean;
    const work = sent.send().then(() => {
      this.#index(sent);
      // Without an answer of the service, it has no status yet that was reported.
      if (url !== undefined && sent.status === 'sending') this.#follow(sent);
    });
    const sending = work.catch((error: unknown) => {
      if (!isLate) throw error;
      this.#account.note(`a text to ${text.to} was not sent: ${(error as Error).message}`);
      sent.fail((error as Error).message);
    });
    const waited = new AbortController();
    try {
      await Promise.race([sending, sleep(systemClock, ANSWER_MS, waited.signal).catch(() => undefined)]);
    } catch (error) {
      this.#texts.delete(sent.sid);
      throw error;
    } finally {
      isLate = true;
      waited.abort();
    }
    return sent.view();
  }

  /** Undefined if the account has none with this id. */
  async fetch(sid: string): Promise<MessageView | undefined> {
    const text = this.#texts.get(sid);
    if (text !== undefined) {
      if (!isFinal(text.status)) await this.#refresh(text.phone, [text]).catch(rethrowUnlessApiError);
      return text.view();
    }
    const found = await this.#find(sid);
    return found && this.#viewOf(found.row);
  }

  /** Deletes a text, and all parts of a long one. False if the account has none with this id. Throws `TwilioRefusal` while it is sent. */
  async remove(sid: string): Promise<boolean> {
    const found = this.#texts.has(sid) ? undefined : await this.#find(sid);
    const text = this.#texts.get(sid) ?? (found && this.#textOf(found.row));
    if (text === undefined) {
      if (found === undefined) return false;
      if (messageStatusOf(found.row) === 'sending') throw notFinished();
      return deleted(found.phone, [found.row]);
    }
    const rows = await rowsOf(text.phone, text);
    text.refresh(rows);
    if (text.status === 'sending') throw notFinished();
    const ids = new Set<string | null>(text.messageIds);
    const isDeleted = await deleted(
      text.phone,
      rows.filter(({ message_id: id }) => id !== null && ids.has(id)),
    );
    this.#texts.delete(text.sid);
    this.#followed.delete(text.sid);
    return isDeleted || text.messageIds.length === 0;
  }

  async #find(sid: string): Promise<{ phone: Phone; row: HistoryMessage } | undefined> {
    const id = messageIdOfSid(sid);
    if (id === undefined) return undefined;
    return findRow(
      this.#account,
      (client) => client.history(),
      (row) => row.id === id,
    );
  }

  /** Newest first. */
  async list(
    values: URLSearchParams,
  ): Promise<{ views: MessageView[]; nextToken?: string; query: TwilioListQuery }> {
    const fields = new Fields(values, ['To', 'From', 'DateSent', 'DateSent<', 'DateSent>', ...LIST_FIELDS]);
    const query = twilioPageOf(fields);
    const times = timesOf(fields, 'DateSent');
    const [to, from] = [fields.get('To'), fields.get('From')];
    const sources = this.#account.phones.map(
      ({ client }) =>
        async ({ cursor, until }: { cursor?: string | undefined; until?: string | undefined }) => {
          const last = times.until ?? until;
          if (isEmptyPeriod(times.since, last)) return { rows: [], next: null };
          const page = await client.messages({ since: times.since, until: last, cursor, limit: PAGE_LIMIT });
          return {
            rows: page.messages.map((message) => ({ at: message.created_at, message })),
            next: page.next_cursor,
          };
        },
    );
    const { rows, nextToken } = await readTwilioList(sources, {
      ...query,
      fits: ({ message }) =>
        (to === undefined || message.to_number === to) &&
        (from === undefined || message.from_number === from) &&
        this.#isShown(message),
    });
    return {
      views: rows.map(({ message }) => this.#viewOf(message)),
      ...(nextToken === undefined ? {} : { nextToken }),
      query,
    };
  }

  /** The list shows only the last of the texts that a long one was sent as. */
  #isShown(row: HistoryMessage): boolean {
    return this.#textOf(row)?.isShownAt(row) ?? true;
  }

  #viewOf(row: HistoryMessage): MessageView {
    const text = this.#textOf(row);
    text?.refresh([row]);
    return text?.view() ?? messageViewOf(row, messageSidOf(row.id));
  }

  #textOf({ message_id: id }: HistoryMessage): TwilioMessage | undefined {
    return id === null ? undefined : this.#byMessageId.get(id);
  }

  #index(text: TwilioMessage): void {
    for (const id of text.messageIds) this.#byMessageId.set(id, text);
  }

  #onStatus(text: TwilioMessage, url: string | undefined): void {
    if (url === undefined) return;
    const { sid, from, to, status } = text.view();
    const fields: Record<string, string> = {
      AccountSid: this.#account.sid,
      ApiVersion: API_VERSION,
      From: from,
      MessageSid: sid,
      MessageStatus: status,
      SmsSid: sid,
      SmsStatus: status,
      To: to,
      ...(isFailure(status) ? { ErrorCode: String(text.view().errorCode) } : {}),
    };
    this.#account.callbacks.send(sid, { url, fields });
    if (isFinal(status)) this.#followed.delete(sid);
    else this.#follow(text);
  }

  #follow(text: TwilioMessage): void {
    if (this.#followed.has(text.sid) || this.#followed.size >= REMEMBERED_MAX) return;
    this.#followed.set(text.sid, { text, nextAtMs: Date.now() + POLL_MS });
    this.#following ??= this.#poll().finally(() => {
      this.#following = undefined;
    });
  }

  /** Until no text has a status to come. */
  async #poll(): Promise<void> {
    const { phones, signal } = this.#account;
    while (this.#followed.size > 0 && !signal.aborted) {
      await sleep(systemClock, POLL_MS, signal).catch(() => undefined);
      for (const phone of phones) {
        const due = this.#due(phone);
        if (due.length > 0) await this.#refresh(phone, due).catch(rethrowUnlessApiError);
      }
    }
  }

  #due(phone: Phone): TwilioMessage[] {
    const now = Date.now();
    const due: TwilioMessage[] = [];
    for (const followed of this.#followed.values()) {
      const { text } = followed;
      if (text.phone !== phone || now < followed.nextAtMs) continue;
      const ageMs = now - text.createdAt.getTime();
      if (ageMs > FOLLOWED_MS) this.#followed.delete(text.sid);
      followed.nextAtMs = now + Math.min(Math.max(POLL_MS, ageMs / 10), POLL_MS_MAX);
      due.push(text);
    }
    return due;
  }

  /** Texts of the same minutes are searched for together: on a busy number, those of all due texts would be too many. */
  async #refresh(phone: Phone, texts: readonly TwilioMessage[]): Promise<void> {
    for (const { of, ...period } of windowsOf(texts)) {
      const rows = await rowsOf(phone, period);
      for (const text of of) {
        text.refresh(rows);
        this.#index(text);
      }
    }
  }
}

/** Texts that the number sent in this time. */
async function rowsOf({ client }: Phone, { since, until }: Pick<SearchWindow, 'since' | 'until'>) {
  const rows: HistoryMessage[] = [];
  for await (const row of client.history({ direction: 'sent', since, until })) {
    rows.push(row);
    if (rows.length === SEARCHED_MAX) break;
  }
  return rows;
}

/** Whether there was one. */
async function deleted({ client }: Phone, rows: readonly HistoryMessage[]): Promise<boolean> {
  let isDeleted = false;
  for (const { id } of rows) {
    try {
      await client.deleteMessage(id);
      isDeleted = true;
    } catch (error) {
      if (!isApiError(error, 'message_not_found')) throw error;
    }
  }
  return isDeleted;
}

/** A number sends hundreds of texts in this time at most. */
const WINDOW_MS_MAX = 600_000;

interface SearchWindow {
  since: Date;
  until: Date;
  of: TwilioMessage[];
}

/** The times in which the history has these texts. Windows that overlap are one, as long as it stays short. */
function windowsOf(texts: readonly TwilioMessage[]): SearchWindow[] {
  const windows: SearchWindow[] = [];
  for (const text of [...texts].sort((a, b) => Number(a.createdAt) - Number(b.createdAt))) {
    const last = windows.at(-1);
    const isNear = last !== undefined && text.since <= last.until;
    if (isNear && Number(text.until) - Number(last.since) <= WINDOW_MS_MAX) {
      if (text.until > last.until) last.until = text.until;
      last.of.push(text);
    } else windows.push({ since: text.since, until: text.until, of: [text] });
  }
  return windows;
}

function rethrowUnlessApiError(error: unknown): void {
  if (!isApiError(error)) throw error;
}
