// Sending: the intent durable before the modem sees the message, its outcome durable before it is told.
import type { Clock, Timer } from '#shared/clock.ts';
import type { CommandParams, SmsOutcome } from '#shared/link/messages.ts';
import type { Logger } from '#shared/log.ts';
import { type Segmentation, segmentText } from '#shared/sms/segmentation.ts';
import { AtError, AtTimeoutError, CmeError, CmsError, PortClosedError } from '../at/at-error.ts';
import type { AtChannel } from '../at/channel.ts';
import { atQuery } from '../at/command.ts';
import { fieldsOf, integerField } from '../at/fields.ts';
import type { Journal } from '../journal/journal.ts';
import { encodeSubmit } from '../sms/tpdu.ts';
import { CommandRefusal } from './refusal.ts';

/** Two minutes of sending at the speed of a radio; the control plane has better places for a longer queue. */
export const OUTBOX_LENGTH_MAX = 64;
/** Networks take 1 to 5 s; a shorter time-out would call accepted messages unknown. */
export const SUBMIT_TIMEOUT_MS = 60_000;
/** Nothing waits longer here, whatever its deadline; timers know no more than 24 days. */
const WAIT_MAX_MS = 60 * 60 * 1000;
/** While the disk refuses an outcome that the modem has given. */
const RECORD_RETRY_MS = 5_000;
/** TP-VP: the service centre tries for 24 hours. */
const VALIDITY_24_HOURS = 167;
/** 3GPP TS 23.040 §9.2.3.24.1: the total is one octet. */
const SEGMENTS_MAX = 255;

/** The wire takes 512. */
const MESSAGE_MAX = 400;

/** Network time-out, unknown error, timer expired (vendors): the message may be on its way. */
const CMS_AMBIGUOUS = new Set([332, 500, 521]);
/** SIM or service missing: the message was certainly not sent. */
const CME_CERTAIN = new Set([3, 4, 10, 11, 12, 13, 14, 15, 16, 17, 18, 30, 32]);

/** One message to send. */
export interface SendRequest {
  readonly commandId: string;
  readonly params: CommandParams<'send_sms'>;
  /** Milliseconds since the epoch; a request that waits until then is refused. */
  readonly deadlineAt: number;
}

/** What the outbox of one SIM works on. */
export interface SmsOutboxParts {
  readonly channel: AtChannel;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whether the SIM is registered now. */
  readonly isRegistered: () => boolean;
}

/** All are made before the first is given: what cannot be encoded has reached nobody. */
type Submit = ReturnType<typeof encodeSubmit>;

interface Waiting {
  readonly request: SendRequest;
  readonly segmentation: Segmentation;
  readonly resolve: (outcome: SmsOutcome) => void;
  readonly reject: (refusal: CommandRefusal) => void;
  timer: Timer | undefined;
}

/** The messages that one modem is to send, one after the other. */
export class SmsOutbox {
  readonly #parts: SmsOutboxParts;
  readonly #queue: Waiting[] = [];
  #working: Promise<void> | undefined;
  /** The message that the modem has now. */
  #current: Promise<void> | undefined;
  #reference = Math.floor(Math.random() * 256);
  #closed = false;

  constructor(parts: SmsOutboxParts) {
    this.#parts = parts;
  }

  /**
   * Sends one message once. Resolves with what became of it; rejects with `CommandRefusal` when it was
   * not tried. The caller keeps command ids apart: a second call with one would send again.
   */
  send(request: SendRequest): Promise<SmsOutcome> {
    const segmentation = segmentText(request.params.body);
    const segments = segmentation.segments.length;
    if (segments > Math.min(request.params.segments_max, SEGMENTS_MAX)) {
      return refused(
        'params_invalid',
        `${segments} segments where ${request.params.segments_max} are allowed`,
      );
    }
    if (this.#closed) return refused('slot_unavailable', 'the modem is gone');
    if (!this.#parts.isRegistered()) return refused('slot_unavailable', 'the SIM is not registered');
    if (this.#queue.length >= OUTBOX_LENGTH_MAX) {
      return refused('slot_busy', `${OUTBOX_LENGTH_MAX} messages wait already`);
    }
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { request, segmentation, resolve, reject, timer: undefined };
      const leftMs = Math.min(WAIT_MAX_MS, Math.max(0, request.deadlineAt - this.#parts.clock.now()));
      waiting.timer = this.#parts.clock.after(leftMs, () => this.#expire(waiting));
      this.#queue.push(waiting);
      this.#work();
    });
  }

  /** Resolves when the message that the modem has now, if any, has its outcome. */
  async sendingDone(): Promise<void> {
    await this.#current;
  }

  /** Refuses what waits; what the modem has already ends by itself or with the port. Idempotent. */
  close(): void {
    this.#closed = true;
    for (const waiting of this.#queue.splice(0)) {
      waiting.timer?.cancel();
      waiting.reject(new CommandRefusal('slot_unavailable', 'the modem went away'));
    }
  }

  #work(): void {
    this.#working ??= this.#workAll();
  }

  async #workAll(): Promise<void> {
    // The promise is in its field before the work ends.
    await Promise.resolve();
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      next.timer?.cancel();
      this.#current = this.#perform(next);
      await this.#current;
      this.#current = undefined;
    }
    this.#working = undefined;
  }

  #expire(waiting: Waiting): void {
    const position = this.#queue.indexOf(waiting);
    if (position < 0) return;
    this.#queue.splice(position, 1);
    waiting.reject(new CommandRefusal('deadline_passed', 'the deadline passed in the queue'));
  }

  async #perform({ request, segmentation, resolve, reject }: Waiting): Promise<void> {
    const { clock, journal, isRegistered } = this.#parts;
    if (!isRegistered()) {
      reject(new CommandRefusal('slot_unavailable', 'the SIM is not registered any more'));
      return;
    }
    const { commandId, params } = request;
    const at = new Date(clock.now()).toISOString();
    try {
      await journal.append({ kind: 'intent', commandId, iccid: params.iccid, to: params.to, at });
    } catch (cause) {
      reject(new CommandRefusal('journal_unavailable', 'the journal refused the command', cause));
      return;
    }
    const outcome = await this.#outcomeOf(request, segmentation);
    await this.#record(commandId, outcome);
    resolve(outcome);
  }

  /** Never rejects: a mistake of ours costs one message its outcome, and no modem its daemon. */
  async #outcomeOf({ commandId, params }: SendRequest, segmentation: Segmentation): Promise<SmsOutcome> {
    const { clock, log } = this.#parts;
    let submits: readonly Submit[];
    try {
      submits = this.#encode(params.to, segmentation);
    } catch (error) {
      log.error({ err: error, command: commandId }, 'a message cannot be encoded');
      const at = new Date(clock.now()).toISOString();
      return { status: 'rejected', code: 'not_encodable', message: messageOf(error), at };
    }
    try {
      return await this.#submit(submits);
    } catch (error) {
      log.error({ err: error, command: commandId }, 'sending a message failed unexpectedly');
      return { status: 'unknown', message: messageOf(error), at: new Date(clock.now()).toISOString() };
    }
  }

  #encode(to: string, { encoding, segments }: Segmentation): Submit[] {
    const total = segments.length;
    this.#reference = (this.#reference + 1) % 256;
    const reference = this.#reference;
    return segments.map((text, index) => {
      const header = { reference, referenceBits: 8 as const, total, part: index + 1 };
      return encodeSubmit({
        ...{ to, text, encoding, statusReport: true, validityPeriod: VALIDITY_24_HOURS },
        ...(total > 1 ? { concatenation: header } : {}),
      });
    });
  }

  async #submit(submits: readonly Submit[]): Promise<SmsOutcome> {
    const total = submits.length;
    const references: number[] = [];
    for (const [index, { pdu, length }] of submits.entries()) {
      const command = atQuery(`AT+CMGS=${length}`, '+CMGS:', { body: pdu, timeoutMs: SUBMIT_TIMEOUT_MS });
      try {
        const [answer] = await this.#parts.channel.send(command);
        references.push((integerField(fieldsOf(answer?.line ?? ''), 0) ?? 0) & 0xff);
      } catch (error) {
        const outcome = failedOutcome(error, new Date(this.#parts.clock.now()).toISOString());
        if (total === 1) return outcome;
        return { ...outcome, message: `segment ${index + 1} of ${total}: ${outcome.message}` };
      }
    }
    const at = new Date(this.#parts.clock.now()).toISOString();
    return { status: 'accepted', message_references: references, at };
  }

  /** Resolves when the outcome is durable, or after the first refusal of the disk, which is tried again. */
  async #record(commandId: string, outcome: SmsOutcome): Promise<void> {
    const { clock, journal, log } = this.#parts;
    const fact = { kind: 'sms_outcome' as const, command_id: commandId, outcome };
    try {
      await journal.append({ kind: 'fact', fact });
    } catch (error) {
      log.error({ err: error, command: commandId }, 'an outcome is not journalled yet');
      // A process that ends before this succeeds finds an intent without outcome: unknown.
      if (!journal.isClosed) clock.after(RECORD_RETRY_MS, () => void this.#record(commandId, outcome));
    }
  }
}

/**
 * What a failed AT+CMGS means for the message: rejected when it certainly was not sent, unknown when
 * nobody can say. Before the PDU was given everything is certain.
 */
export function failedOutcome(error: unknown, at: string): Extract<SmsOutcome, { message: string }> {
  const message = messageOf(error);
  const rejected = (code: string, text = message): Extract<SmsOutcome, { message: string }> => ({
    ...{ status: 'rejected', code, message: text, at },
  });
  if (!(error instanceof AtError)) return { status: 'unknown', message, at };
  const certain = !error.bodyGiven;
  if (error instanceof CmsError && (certain || !CMS_AMBIGUOUS.has(error.code)))
    return rejected(`cms_${error.code}`);
  if (error instanceof CmeError && (certain || CME_CERTAIN.has(error.code)))
    return rejected(`cme_${error.code}`);
  if (!certain) return { status: 'unknown', message, at };
  if (error instanceof AtTimeoutError)
    return rejected('modem_silent', `the modem did not answer: ${message}`);
  return rejected(error instanceof PortClosedError ? 'modem_lost' : 'modem_refused');
}

/** At most what the wire takes, with room for what is put before it. */
function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, MESSAGE_MAX);
}

function refused(code: ConstructorParameters<typeof CommandRefusal>[0], message: string): Promise<never> {
  return Promise.reject(new CommandRefusal(code, message));
}
