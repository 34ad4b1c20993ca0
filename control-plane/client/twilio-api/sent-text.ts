// One text of the API, from the request to its last status: sent whole, or as numbered texts.
import { REFUSALS } from '#shared/api/refusals.ts';
import { sleep, systemClock } from '#shared/clock.ts';
import { ApiError } from '../api-error.ts';
import { CLOCK_ERROR_MS, isTooLong, PartlySentError } from '../long-text.ts';
import type { HistoryMessage } from '../simrack-client.ts';
import type { Phone } from './account.ts';
import {
  isFailure,
  isFinal,
  type MessageStatus,
  type MessageView,
  messageStatusOf,
  UNKNOWN_ERROR,
  worstOf,
} from './message-json.ts';
import { invalid, twilioRefusalOf } from './refusal.ts';
import { randomSid } from './sids.ts';

/** After a lost answer, the service stores the text within this time, or never got it. Less than the time in which an app gets its answer. */
const STORED_WITHIN_MS = 6_000;
const READ_AGAIN_MS = 1_000;

interface Part {
  /** The service's id; null while the outcome of the part is unknown. */
  messageId: string | null;
  body: string;
  status: MessageStatus;
}

interface TextParts {
  /** Called with each new status. */
  onStatus: (text: TwilioMessage) => void;
  /** Whether the service's id is that of another text. */
  isOfOther: (messageId: string, text: TwilioMessage) => boolean;
}

interface TextRequest {
  to: string;
  body: string;
  transliterate: boolean;
}

export class TwilioMessage {
  readonly sid = randomSid('SM');
  readonly phone: Phone;
  readonly createdAt = new Date();
  readonly #request: TextRequest;
  readonly #with: TextParts;
  #parts: Part[] = [];
  #status: MessageStatus = 'sending';
  #errorMessage: string | null = null;
  #sentAtMs: number | undefined;

  constructor(phone: Phone, request: TextRequest, parts: TextParts) {
    this.phone = phone;
    this.#request = request;
    this.#with = parts;
  }

  get status(): MessageStatus {
    return this.#status;
  }

  /** The newest entry of the history that belongs to it: the list shows the text there. */
  isShownAt({ message_id: id }: HistoryMessage): boolean {
    return id !== null && this.#parts.at(-1)?.messageId === id;
  }

  /** Those that are known. */
  get messageIds(): string[] {
    return this.#parts.map(({ messageId }) => messageId).filter((id) => id !== null);
  }

  /** The history has it between these two. */
  get since(): Date {
    return new Date(this.createdAt.getTime() - CLOCK_ERROR_MS);
  }

  get until(): Date {
    return new Date((this.#sentAtMs ?? Date.now()) + CLOCK_ERROR_MS);
  }

  /** Sends it. Throws `TwilioRefusal` if nothing was sent; any other failure is a status. */
  async send(): Promise<void> {
    const { client } = this.phone;
    try {
      const { messages } = await client.sendLong(this.#request);
      this.#parts = messages.map(({ body, message_id: messageId }) => ({ messageId, body, status: 'sent' }));
    } catch (error) {
      // More than 20 numbered texts.
      if (isTooLong(error)) throw invalid(21_617, error.message);
      if (!(error instanceof ApiError)) throw error;
      const refusal =
        error instanceof PartlySentError && error.sent.length > 0
          ? undefined
          : twilioRefusalOf(error, 'text');
      if (refusal !== undefined) throw refusal;
      this.#errorMessage = error.message;
      await this.#recover(error);
    }
    this.#sentAtMs = Date.now();
    this.#update();
  }

  /** It was refused after its request was answered. */
  fail(message: string): void {
    this.#errorMessage = message;
    this.#parts = [{ messageId: null, body: this.#request.body, status: 'failed' }];
    this.#update();
  }

  /** Takes over the state of its parts from rows of the history. */
  refresh(rows: readonly HistoryMessage[]): void {
    for (const part of this.#parts) {
      const row = this.#rowOf(part, rows);
      if (row === undefined) continue;
      part.messageId = row.message_id;
      part.status = messageStatusOf(row);
    }
    this.#update();
  }

  view(): MessageView {
    const isFailed = isFailure(this.#status);
    return {
      sid: this.sid,
      direction: 'outbound-api',
      from: this.phone.number,
      to: this.#request.to,
      body: this.#request.body,
      segments: Math.max(1, this.#parts.length),
      status: this.#status,
      errorCode: isFailed ? UNKNOWN_ERROR : null,
      errorMessage: isFailed ? this.#errorMessage : null,
      createdAt: this.createdAt.toISOString(),
    };
  }

  /** After a failure without a clear outcome: the history has the text if it may have gone out. */
  async #recover(error: ApiError): Promise<void> {
    const isPartly = error instanceof PartlySentError;
    const sent = isPartly ? error.sent : [];
    this.#parts = sent.map(({ body, message_id: messageId }) => ({ messageId, body, status: 'sent' }));
    // Unsent texts after the first one were not tried.
    const [tried] = isPartly ? error.unsent : [this.#request.body];
    const part: Part = { messageId: null, body: tried ?? '', status: 'sending' };
    this.#parts.push(part);
    // Without an answer of the service itself, it may not have stored the text yet.
    const deadline = Date.now() + (error.code in REFUSALS ? 0 : STORED_WITHIN_MS);
    for (;;) {
      const rows = await this.#readHistory();
      if (rows !== undefined && this.#rowOf(part, rows) !== undefined) return;
      if (Date.now() >= deadline) {
        if (rows !== undefined) part.status = 'failed';
        return;
      }
      await sleep(systemClock, READ_AGAIN_MS);
    }
  }

  /** Undefined if the service does not answer. */
  async #readHistory(): Promise<readonly HistoryMessage[] | undefined> {
    const { client } = this.phone;
    try {
      const { messages } = await client.messages({ direction: 'sent', since: this.since, limit: 100 });
      this.refresh(messages);
      return messages;
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      return undefined;
    }
  }

  #rowOf(part: Part, rows: readonly HistoryMessage[]): HistoryMessage | undefined {
    return rows.find((each) =>
      part.messageId === null ? this.#isUnclaimed(each, part) : each.message_id === part.messageId,
    );
  }

  #isUnclaimed(row: HistoryMessage, part: Part): boolean {
    const { body, message_id: id, to_number: to } = row;
    if (to !== this.#request.to || body !== part.body) return false;
    return id === null || !this.#with.isOfOther(id, this);
  }

  #update(): void {
    const next = worstOf(this.#parts.map(({ status }) => status));
    if (next === this.#status || isFinal(this.#status)) return;
    this.#status = next;
    this.#with.onStatus(this);
  }
}
