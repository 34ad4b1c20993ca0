// The resource Calls: calls that an app places, ends and lists.
import { LRUCache } from 'lru-cache';
import { sleep, systemClock } from '#shared/clock.ts';
import { isApiError } from '../api-error.ts';
import type { PresenceEvent } from '../api-types.ts';
import type { ConnectBot } from '../bridge/bot.ts';
import { recordOf } from '../bridge/call-outcome.ts';
import { readTwiml } from '../bridge/twiml.ts';
import { givenTwimlBot, twimlBot } from '../bridge/twiml-bot.ts';
import type { Call } from '../simrack-client.ts';
import { destinationOf, findRow, type Phone, phoneOf, type TwilioAccount } from './account.ts';
import { callViewOf, isOver, type TwilioCall } from './call-json.ts';
import { Fields } from './fields.ts';
import { isEmptyPeriod, LIST_FIELDS, type TwilioListQuery, timesOf, twilioPageOf } from './list-query.ts';
import { readTwilioList } from './listing.ts';
import { CALL_EVENTS, type CallRequest, PlacedCall } from './placed-call.ts';
import { callIsOver, invalid, notFinished } from './refusal.ts';

/** A refusal of the service comes within this time; the far end may ring much later. */
const ANSWER_MS = 1_000;

/** A modem hangs up within this time. */
const HANG_UP_MS = 2_000;

/** Calls of the API whose statuses are known without the service. */
const REMEMBERED_MAX = 10_000;

const PAGE_LIMIT = 100;

/** Events of calls whose id is not known yet. */
const EARLY_EVENTS_MAX = 1_000;

const TIMEOUT_SECONDS = 60;
const TIMEOUT_SECONDS_MAX = 600;
const TWIML_CHARACTERS_MAX = 4_000;

const FIELDS = [
  'To',
  'From',
  'Url',
  'Method',
  'Twiml',
  'Timeout',
  'StatusCallback',
  'StatusCallbackMethod',
  'StatusCallbackEvent',
  'MachineDetection',
  'AsyncAmd',
  'AsyncAmdStatusCallback',
  'AsyncAmdStatusCallbackMethod',
];

export class Calls {
  readonly #account: TwilioAccount;
  readonly #placed = new LRUCache<string, PlacedCall>({ max: REMEMBERED_MAX });
  /** Removed ones, by their SIDs. The service keeps the records of calls. */
  readonly #removed = new LRUCache<string, true>({ max: REMEMBERED_MAX });
  readonly #early = new LRUCache<string, PresenceEvent[]>({ max: EARLY_EVENTS_MAX });

  constructor(account: TwilioAccount) {
    this.#account = account;
  }

  /** Places a call. Throws `TwilioRefusal`. Resolves after a second at the latest. */
  async create(values: URLSearchParams): Promise<TwilioCall> {
    const fields = new Fields(values, FIELDS, new Set(this.#account.skipped));
    const to = destinationOf(fields.get('To'), 21_201);
    const phone = phoneOf(this.#account, fields.get('From'), { missing: 21_213, foreign: 21_210 });
    const seconds = fields.whole('Timeout', { min: 1, max: TIMEOUT_SECONDS_MAX }) ?? TIMEOUT_SECONDS;
    const request = {
      to,
      connect: this.#botOf(fields),
      timeoutMs: seconds * 1_000,
      callback: callbackOf(fields),
      detection: detectionOf(fields),
    };
    const call = new PlacedCall(this.#account, phone, request);
    this.#placed.set(call.sid, call);
    let isLate = false as boolean;
    const dialing = call
      .dial()
      .then(() => this.#deliver(call))
      .catch((error: unknown) => {
        if (!isLate) throw error;
        this.#account.note(`${call.sid}: not dialed: ${(error as Error).message}`);
        call.fail();
      });
    const waited = new AbortController();
    try {
      await Promise.race([dialing, sleep(systemClock, ANSWER_MS, waited.signal).catch(() => undefined)]);
    } catch (error) {
      this.#placed.delete(call.sid);
      throw error;
    } finally {
      isLate = true;
      waited.abort();
    }
    call.accepted();
    return call.view();
  }

  /** Ends a call with `Status`, or with TwiML that hangs up. Throws `TwilioRefusal`, also if it is over. Undefined if there is none. */
  async update(sid: string, values: URLSearchParams): Promise<TwilioCall | undefined> {
    const fields = new Fields(values, ['Status', 'Twiml'], new Set(this.#account.skipped));
    const [status, twiml] = [fields.get('Status'), fields.get('Twiml')];
    if (twiml !== undefined) checkHangup(twiml, this.#account.skipped);
    else if (status !== 'completed' && status !== 'canceled')
      throw invalid(20_001, 'Status must be completed or canceled.');
    const by = twiml === undefined ? 'Status' : 'Twiml';
    const placed = this.#placedBy(sid);
    if (placed !== undefined) {
      if (this.#removed.has(placed.sid)) return undefined;
      if (placed.isOver) throw callIsOver(by);
      await placed.hangUp();
      await placed.ended(HANG_UP_MS);
      return placed.view();
    }
    const found = await this.#find(sid);
    if (found === undefined) return undefined;
    const view = callViewOf(found.row, this.#account.callSids.of(found.row.call_id));
    if (this.#removed.has(view.sid)) return undefined;
    if (isOver(view.status)) throw callIsOver(by);
    try {
      await found.phone.client.hangUp({ call_id: found.row.call_id });
    } catch (error) {
      if (isApiError(error, 'call_not_found')) throw callIsOver(by);
      throw error;
    }
    // An app that ends a call reads that it is over.
    const record = await recordOf(found.phone.client, found.row.call_id, { isOver: true });
    return this.#viewOf(record ?? found.row);
  }

  /** Undefined if the account has none with this id. */
  async fetch(sid: string): Promise<TwilioCall | undefined> {
    const view = this.#placedBy(sid)?.view() ?? (await this.#recorded(sid));
    return view === undefined || this.#removed.has(view.sid) ? undefined : view;
  }

  /** Removes a call that is over from the API. False if the account has none with this id. Throws `TwilioRefusal` before its end. */
  async remove(sid: string): Promise<boolean> {
    const view = await this.fetch(sid);
    if (view === undefined) return false;
    if (!isOver(view.status)) throw notFinished();
    this.#removed.set(view.sid, true);
    return true;
  }

  /** Newest first. */
  async list(
    values: URLSearchParams,
  ): Promise<{ views: TwilioCall[]; nextToken?: string; query: TwilioListQuery }> {
    const known = ['To', 'From', 'Status', 'StartTime', 'StartTime<', 'StartTime>', ...LIST_FIELDS];
    const fields = new Fields(values, known);
    const query = twilioPageOf(fields);
    const times = timesOf(fields, 'StartTime');
    const [to, from, status] = [fields.get('To'), fields.get('From'), fields.get('Status')];
    const sources = this.#account.phones.map(
      (phone) =>
        async ({ cursor, until }: { cursor?: string | undefined; until?: string | undefined }) => {
          const last = times.until ?? until;
          if (isEmptyPeriod(times.since, last)) return { rows: [], next: null };
          const page = await phone.client.calls({
            since: times.since,
            until: last,
            cursor,
            limit: PAGE_LIMIT,
          });
          const rows = page.calls.map((call) => ({ at: call.started_at, view: this.#viewOf(call, phone) }));
          return { rows, next: page.next_cursor };
        },
    );
    const { rows, nextToken } = await readTwilioList(sources, {
      ...query,
      fits: ({ view }) =>
        (to === undefined || view.to === to) &&
        (from === undefined || view.from === from) &&
        (status === undefined || view.status === status) &&
        !this.#removed.has(view.sid),
    });
    return { views: rows.map(({ view }) => view), ...(nextToken === undefined ? {} : { nextToken }), query };
  }

  /** Watches a number's calls until the end of the API. */
  async watch({ client, number }: Phone): Promise<void> {
    await client.watchCalls(number, {
      signal: this.#account.signal,
      onEvent: (event) => this.#onEvent(event),
      onState: ({ connected }) => {
        if (connected) void this.#catchUp().catch((error: unknown) => this.#account.note(String(error)));
      },
    });
  }

  /** Hangs up all calls that the API placed. Calls that came in end with the signal of the account. */
  async stop(): Promise<void> {
    const live = [...this.#placed.values()].filter(({ isOver: isEnded }) => !isEnded);
    await Promise.all(live.map((call) => call.hangUp()));
  }

  /** Events that came while there was no connection are in the records. */
  async #catchUp(): Promise<void> {
    for (const placed of this.#placed.values()) {
      const { callId } = placed;
      if (placed.isOver || callId === undefined) continue;
      const record = (await this.#find(callId))?.row;
      if (record !== undefined) placed.onRecord(record);
    }
  }

  #onEvent(event: PresenceEvent): void {
    if (event.direction === 'inbound') return;
    const placed = this.#placedOf(event.call_id);
    if (placed === undefined)
      this.#early.set(event.call_id, [...(this.#early.get(event.call_id) ?? []), event]);
    else placed.onEvent(event);
  }

  /** Events may come before the answer of the dial. */
  #deliver(call: PlacedCall): void {
    const { callId } = call;
    if (callId === undefined) return;
    for (const event of this.#early.get(callId) ?? []) call.onEvent(event);
    this.#early.delete(callId);
  }

  #placedOf(callId: string): PlacedCall | undefined {
    return this.#placed.get(this.#account.callSids.of(callId));
  }

  #placedBy(sid: string): PlacedCall | undefined {
    return this.#placed.get(sid) ?? this.#placedOf(this.#account.callSids.callIdOf(sid) ?? sid);
  }

  #find(sid: string): Promise<{ phone: Phone; row: Call } | undefined> {
    const callId = this.#account.callSids.callIdOf(sid) ?? sid;
    return findRow(
      this.#account,
      (client) => client.callHistory(),
      (row) => row.call_id === callId,
    );
  }

  async #recorded(sid: string): Promise<TwilioCall | undefined> {
    const found = await this.#find(sid);
    return found && this.#viewOf(found.row);
  }

  #viewOf(call: Call, phone?: Phone): TwilioCall {
    const placed =
      this.#placedOf(call.call_id) ?? (phone === undefined ? undefined : this.#dialedBy(phone, call));
    return placed?.view() ?? callViewOf(call, this.#account.callSids.of(call.call_id));
  }

  /** A number dials one call at a time: this is the one whose id is not known yet. */
  #dialedBy(phone: Phone, { direction, state }: Call): PlacedCall | undefined {
    if (direction !== 'outbound' || state !== 'dialing') return undefined;
    for (const placed of this.#placed.values())
      if (placed.phone === phone && placed.callId === undefined && !placed.isOver) return placed;
    return undefined;
  }

  #botOf(fields: Fields): ConnectBot {
    const { authToken, skipped } = this.#account;
    const twiml = fields.get('Twiml');
    if (twiml !== undefined) {
      if (twiml.length > TWIML_CHARACTERS_MAX)
        throw invalid(21_205, `Twiml has more than ${TWIML_CHARACTERS_MAX} characters.`);
      // Errors now, not when the call is answered.
      readTwiml(twiml, new Set(skipped), 'Twiml');
      return givenTwimlBot(twiml, { skipped });
    }
    const url = fields.url('Url', 21_205);
    if (url === undefined) throw invalid(21_205, 'Url or Twiml is required.');
    return twimlBot({ url, method: fields.method('Method'), authToken, callStatus: 'in-progress', skipped });
  }
}

function callbackOf(fields: Fields): CallRequest['callback'] {
  const url = fields.url('StatusCallback', 21_609);
  const method = fields.method('StatusCallbackMethod');
  const events = fields.all('StatusCallbackEvent').flatMap((text) => text.split(/[\s,]+/).filter(Boolean));
  const unknown = events.find((event) => !(CALL_EVENTS as readonly string[]).includes(event));
  if (unknown !== undefined)
    throw invalid(21_626, `StatusCallbackEvent must be of ${CALL_EVENTS.join(', ')}`);
  if (url === undefined) return undefined;
  return { url, method, events: new Set(events.length === 0 ? ['completed'] : events) };
}

function detectionOf(fields: Fields): CallRequest['detection'] {
  const kind = fields.get('MachineDetection');
  const url = fields.url('AsyncAmdStatusCallback', 21_609);
  const method = fields.method('AsyncAmdStatusCallbackMethod');
  if (kind === undefined) return undefined;
  if (kind !== 'Enable')
    throw invalid(20_001, 'MachineDetection must be Enable: the end of a greeting is not detected.');
  return { callback: url === undefined ? undefined : { url, method } };
}

/** A call in progress can be ended; its bot stays the same until then. */
function checkHangup(twiml: string, skipped: readonly string[]): void {
  const { stream, pauseSeconds } = readTwiml(twiml, new Set(skipped), 'Twiml');
  if (stream !== undefined || pauseSeconds > 0)
    throw invalid(20_001, 'TwiML for a call in progress can only hang up.');
}
