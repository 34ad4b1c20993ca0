// Sends messages. The intent is durable before the modem gets the message; the outcome is durable before it is reported.
//
//   queued ──intent──► prepared ──its turn──► with the modem ──► outcome
//      └──deadline, no service──► refused ◄──'withdrawn'──┘
//
// The modem never waits for the disk: intents become durable in advance, outcomes while the modem sends the next message.
import type { Clock, Timer } from '#shared/clock.ts';
import { CommandRefusal } from '#shared/link/command-refusal.ts';
import type { CommandParams, SmsOutcome } from '#shared/link/messages.ts';
import type { Logger } from '#shared/log.ts';
import type { Random } from '#shared/random.ts';
import { type Segmentation, segmentText } from '#shared/sms/segmentation.ts';
import type { AtChannel } from '../../at/channel.ts';
import type { Journal } from '../../journal/journal.ts';
import { appendPersistently, type PersistentAppended } from '../../journal/persistent-append.ts';
import type { NewRecord } from '../../journal/record.ts';
import type { SubmitPdu } from '../../sms/tpdu.ts';
import { SharedLock } from './shared-lock.ts';
import { failureTextOf, rejected } from './sms-outcome.ts';
import { encodeMessage, referenceIn, type Submitted, submitMessage } from './sms-submission.ts';

/** Two minutes of sending at radio speed. A longer queue belongs in the control plane. */
export const OUTBOX_LENGTH_MAX = 64;
/** Most intents that are durable in advance. After a power cut this many messages may be unknown. */
const PREPARE_AHEAD_MAX = 16;
/** Messages that the modem sends within this time are prepared in advance. On a real network that is the next message. */
const PREPARE_AHEAD_MS = 20;
/** The longest wait, whatever the deadline, because timers accept at most 24 days. */
const WAIT_MAX_MS = 60 * 60 * 1000;
/** 3GPP TS 23.040 §9.2.3.24.1: the total is one octet. */
const SEGMENTS_MAX = 255;

/** One message to send. */
interface SendRequest {
  readonly commandId: string;
  readonly params: CommandParams<'send_sms'>;
  /** Milliseconds since the epoch. A request that still waits then is refused. */
  readonly deadlineAt: number;
  /** Digest of the text, which distinguishes a repetition from another message with the same id. */
  readonly digest?: string | undefined;
}

/** The parts that the outbox of one SIM uses. */
interface SmsOutboxParts {
  readonly channel: AtChannel;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Whether the SIM is registered now. */
  readonly isRegistered: () => boolean;
  /** Resolves if the SIM is still the sender of the waiting messages. */
  readonly confirmSim: () => Promise<void>;
}

interface Waiting {
  readonly request: SendRequest;
  readonly segmentation: Segmentation;
  readonly resolve: (outcome: SmsOutcome) => void;
  readonly reject: (refusal: CommandRefusal) => void;
  timer: Timer | undefined;
  /** Settles when its intent is durable; `undefined` before the append. */
  intent: Promise<void> | undefined;
  /** Its PDUs, or the reason why there are none. Made with the intent. */
  pdus: readonly SubmitPdu[] | Error;
}

/** The queue of messages that one modem sends, one at a time. */
export class SmsOutbox {
  readonly #parts: SmsOutboxParts;
  readonly #queue: Waiting[] = [];
  #working: Promise<void> | undefined;
  /** Messages that the modem got, with outcomes that are not reported yet. */
  readonly #unreported = new Set<Promise<void>>();
  /**
   * Resolves when the outcomes of all messages that left the queue, except the last one, are written. Because of it, at most
   * `MAYBE_SENT_MAX` commands can have reached the modem without an outcome when the process is killed.
   */
  #earlierWritten: Promise<void> = Promise.resolve();
  #lastWritten: Promise<void> = Promise.resolve();
  /** Resolves when the journal has the outcome of the last message. */
  #lastTaken: Promise<void> = Promise.resolve();
  /** Set if the last message got no answer in time, with the number of segments that were sent before. */
  #unanswered:
    | { readonly commandId: string; readonly references: readonly number[]; total: number }
    | undefined;
  #concatenationReference: number;
  /** Duration of the disk's last intent, and of the modem's last message. */
  #intentMs = 0;
  #submitMs = 0;
  #closed = false;
  readonly #pauseLock = new SharedLock();

  constructor(parts: SmsOutboxParts) {
    this.#parts = parts;
    this.#concatenationReference = Math.floor(parts.random() * 256);
    parts.channel.onUrc(({ line }) => {
      if (line.startsWith('+CMGS:')) void this.#onLateResult(referenceIn(line));
    });
  }

  /**
   * Sends one message once. Resolves with its outcome. Rejects with `CommandRefusal` if it was not tried. The caller must not use a command
   * id twice: a second call would send again.
   */
  send(request: SendRequest): Promise<SmsOutcome> {
    const segmentation = segmentText(request.params.body);
    const segments = segmentation.segments.length;
    if (segments > Math.min(request.params.segments_max, SEGMENTS_MAX)) {
      const text = `The text needs ${segments} segments. The limit is ${request.params.segments_max}.`;
      return refused('params_invalid', text);
    }
    if (this.#closed) return refused('slot_unavailable', 'The modem disconnected.');
    if (!this.#parts.isRegistered()) return refused('slot_unavailable', 'The SIM is not registered.');
    if (this.#queue.length >= OUTBOX_LENGTH_MAX) {
      return refused('slot_busy', `${OUTBOX_LENGTH_MAX} messages are already waiting. Try again later.`);
    }
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        request,
        segmentation,
        resolve,
        reject,
        timer: undefined,
        intent: undefined,
        pdus: [],
      };
      const leftMs = Math.min(WAIT_MAX_MS, Math.max(0, request.deadlineAt - this.#parts.clock.now()));
      waiting.timer = this.#parts.clock.after(leftMs, () =>
        this.#drop(
          waiting,
          new CommandRefusal('deadline_passed', 'The deadline passed while the message waited.'),
        ),
      );
      this.#queue.push(waiting);
      this.#prepare();
      this.#work();
    });
  }

  /** Sends no further message until the returned function is called. */
  pauseSending(): () => void {
    return this.#pauseLock.take();
  }

  /** Resolves when all messages that left the queue have their outcomes. */
  async sendingDone(): Promise<void> {
    await Promise.all(this.#unreported);
  }

  /** Refuses waiting messages. A message that the modem has ends by itself or with the port. Idempotent. */
  close(): void {
    this.#closed = true;
    const gone = new CommandRefusal('slot_unavailable', 'The modem disconnected.');
    for (const waiting of [...this.#queue]) this.#drop(waiting, gone);
  }

  #work(): void {
    this.#working ??= this.#workAll();
  }

  async #workAll(): Promise<void> {
    // The field must have the promise before the work ends.
    await Promise.resolve();
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      if (!this.#parts.isRegistered()) {
        this.#drop(next, new CommandRefusal('slot_unavailable', 'The SIM is no longer registered.'));
        continue;
      }
      this.#prepare();
      try {
        await next.intent;
      } catch (cause) {
        this.#drop(
          next,
          new CommandRefusal(
            'journal_unavailable',
            'The node’s disk refused to record the message. Try again later.',
            { cause },
          ),
        );
        continue;
      }
      await this.#earlierWritten;
      try {
        // The card may be exchanged while the lock is held, so it is confirmed last.
        do {
          await this.#pauseLock.untilFree();
          await this.#parts.confirmSim();
        } while (this.#pauseLock.isHeld);
      } catch (cause) {
        this.#drop(next, new CommandRefusal('slot_unavailable', 'The SIM may have been changed.', { cause }));
        continue;
      }
      // Meanwhile its deadline may have passed, or the modem may have disconnected.
      if (this.#queue[0] === next && this.#parts.isRegistered()) await this.#perform(next);
    }
    this.#working = undefined;
  }

  /** Makes the intents of the next messages durable: as many as the modem sends meanwhile. */
  #prepare(): void {
    const aheadMs = Math.max(PREPARE_AHEAD_MS, 2 * this.#intentMs);
    const ahead = 1 + Math.floor(aheadMs / Math.max(1, this.#submitMs));
    const { clock, journal } = this.#parts;
    const wanted = Math.min(ahead, PREPARE_AHEAD_MAX);
    // Appends them in groups, so that each group shares a sync.
    const prepared = this.#queue.findIndex(({ intent }) => intent === undefined);
    if (prepared < 0 || prepared > wanted / 2) return;
    for (const waiting of this.#queue.slice(0, wanted)) {
      if (waiting.intent !== undefined) continue;
      const { commandId, digest, params } = waiting.request;
      const { iccid, to } = params;
      const startedAt = clock.now();
      const segments = waiting.segmentation.segments.length;
      waiting.intent = journal
        .append({
          kind: 'intent',
          commandId,
          iccid,
          to,
          at: new Date(startedAt).toISOString(),
          ...(segments > 1 ? { segments } : {}),
          ...(digest === undefined ? {} : { digest }),
        })
        .then(() => {
          this.#intentMs = clock.now() - startedAt;
        });
      waiting.intent.catch(() => undefined);
      waiting.pdus = this.#encoded(to, waiting.segmentation);
    }
  }

  #encoded(to: string, segmentation: Segmentation): readonly SubmitPdu[] | Error {
    this.#concatenationReference = (this.#concatenationReference + 1) % 256;
    try {
      return encodeMessage(to, segmentation, this.#concatenationReference);
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  /** Removes a message from the queue that the modem will never get. */
  #drop(waiting: Waiting, refusal: CommandRefusal): void {
    const position = this.#queue.indexOf(waiting);
    if (position < 0) return;
    this.#queue.splice(position, 1);
    waiting.timer?.cancel();
    if (waiting.intent === undefined) {
      waiting.reject(refusal);
      return;
    }
    const { commandId } = waiting.request;
    const withdrawn = waiting.intent.then(
      () => this.#append({ kind: 'withdrawn', commandId }),
      () => undefined,
    );
    const written = withdrawn.then((appended) => appended?.written);
    this.#earlierWritten = both(this.#earlierWritten, written);
    void withdrawn.then((appended) => appended?.tried).then(() => waiting.reject(refusal));
  }

  /** Resolves when the modem is free again. */
  async #perform(waiting: Waiting): Promise<void> {
    const { clock } = this.#parts;
    const { request, pdus, resolve } = waiting;
    this.#queue.shift();
    waiting.timer?.cancel();
    const startedAt = clock.now();
    const submitted = this.#submit(request.commandId, pdus);
    const recorded = submitted.then(({ outcome }) =>
      this.#append({ kind: 'fact', fact: { kind: 'sms_outcome', command_id: request.commandId, outcome } }),
    );
    const tried = recorded.then((appended) => appended.tried);
    this.#unreported.add(tried);
    void tried.then(async () => {
      this.#unreported.delete(tried);
      resolve((await submitted).outcome);
    });
    this.#earlierWritten = both(this.#earlierWritten, this.#lastWritten);
    this.#lastWritten = recorded.then(({ written }) => written);
    this.#lastTaken = recorded.then(({ taken }) => taken);
    await submitted;
    this.#submitMs = clock.now() - startedAt;
  }

  /** Never rejects. A bug only makes the outcome of one message unknown. */
  async #submit(commandId: string, pdus: readonly SubmitPdu[] | Error): Promise<Submitted> {
    const { channel, clock, log } = this.#parts;
    const failed = (outcome: SmsOutcome): Submitted => ({ outcome, references: [], isUnanswered: false });
    this.#unanswered = undefined;
    if (pdus instanceof Error) {
      log.error({ err: pdus, command: commandId }, 'failed to encode a message');
      const at = new Date(clock.now()).toISOString();
      return failed(rejected('not_encodable', 'final', { message: failureTextOf(pdus), at }));
    }
    const onSegment = (reference: number): void => {
      if (pdus.length > 1) this.#append({ kind: 'segment', commandId, reference });
    };
    try {
      const submitted = await submitMessage(pdus, { channel, clock, onSegment });
      return this.#withWhatReportsSay(commandId, submitted, pdus.length);
    } catch (error) {
      log.error({ err: error, command: commandId }, 'sending a message failed because of an internal error');
      const at = new Date(clock.now()).toISOString();
      return failed({ status: 'unknown', message: failureTextOf(error), at });
    }
  }

  /** Uses reports of the message if its answer did not come. */
  #withWhatReportsSay(commandId: string, submitted: Submitted, total: number): Submitted {
    const { outcome, references } = submitted;
    if (outcome.status !== 'unknown') return submitted;
    const reported = this.#parts.journal.state.commands.get(commandId)?.references ?? [];
    if (reported.length === total) {
      const accepted = { status: 'accepted' as const, message_references: [...reported], at: outcome.at };
      return { outcome: accepted, references: reported, isUnanswered: false };
    }
    if (submitted.isUnanswered) this.#unanswered = { commandId, references, total };
    return submitted;
  }

  /** Handles a late answer. No other message was sent since, so it belongs to the last one. */
  async #onLateResult(reference: number): Promise<void> {
    const late = this.#unanswered;
    if (late === undefined) return;
    this.#unanswered = undefined;
    const { clock, journal, log } = this.#parts;
    const { commandId, total } = late;
    log.info({ command: commandId }, 'received a late answer to a message');
    const references = [...late.references, reference];
    const at = new Date(clock.now()).toISOString();
    const outcome = { status: 'accepted' as const, message_references: references, at };
    // The disk may be refusing the unknown outcome now, and must not get it after this one.
    await this.#lastTaken;
    if (journal.state.commands.get(commandId)?.outcome?.status !== 'unknown') return;
    if (references.length < total) this.#append({ kind: 'segment', commandId, reference });
    else this.#append({ kind: 'fact', fact: { kind: 'sms_outcome', command_id: commandId, outcome } });
  }

  /** While other messages wait, the record can also wait: the modem gets the next message long before the disk is done. */
  #append(record: NewRecord): PersistentAppended {
    return appendPersistently(this.#parts, [record], { isLazy: this.#queue.length > 0 });
  }
}

/** Keeps no reference to the promises, because the chain lasts as long as the modem sends. */
async function both(one: Promise<unknown>, other: Promise<unknown>): Promise<void> {
  await Promise.all([one, other]);
}

function refused(code: ConstructorParameters<typeof CommandRefusal>[0], message: string): Promise<never> {
  return Promise.reject(new CommandRefusal(code, message));
}
