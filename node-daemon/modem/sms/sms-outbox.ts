// Sends messages. The intent is durable before the modem gets the message; the outcome is durable before it is reported.
//
//   queued ──intent──► prepared ──its turn──► with the modem ──► outcome
//      └──deadline, no service──► refused ◄──'withdrawn'──┘
//
// The modem does not wait for the disk: intents are made durable ahead, outcomes while the modem has the next message.
import type { Clock, Timer } from '#shared/clock.ts';
import type { CommandParams, SmsOutcome } from '#shared/link/messages.ts';
import type { Logger } from '#shared/log.ts';
import { type Segmentation, segmentText } from '#shared/sms/segmentation.ts';
import type { AtChannel } from '../../at/channel.ts';
import type { Journal } from '../../journal/journal.ts';
import { appendPersistently, type PersistentAppended } from '../../journal/persistent-append.ts';
import type { NewRecord } from '../../journal/record.ts';
import type { SubmitPdu } from '../../sms/tpdu.ts';
import { CommandRefusal } from '../slot/command-refusal.ts';
import { SharedLock } from './shared-lock.ts';
import { rejected, textOf } from './sms-outcome.ts';
import { encodeMessage, referenceIn, type Submitted, submitMessage } from './sms-submission.ts';

/** Two minutes of sending at the speed of a radio; the control plane has better places for a longer queue. */
export const OUTBOX_LENGTH_MAX = 64;
/** Intents that are made durable before their turn: after a power cut so many messages may be unknown. */
const PREPARE_AHEAD_MAX = 16;
/** The messages that the modem sends in this time are prepared ahead; on the air that is the next one. */
const PREPARE_AHEAD_MS = 20;
/** Nothing waits longer here, whatever its deadline; timers know no more than 24 days. */
const WAIT_MAX_MS = 60 * 60 * 1000;
/** 3GPP TS 23.040 §9.2.3.24.1: the total is one octet. */
const SEGMENTS_MAX = 255;

/** One message to send. */
interface SendRequest {
  readonly commandId: string;
  readonly params: CommandParams<'send_sms'>;
  /** Milliseconds since the epoch; a request that waits until then is refused. */
  readonly deadlineAt: number;
  /** Digest of the text. Kept to distinguish a repetition from another message with the same id. */
  readonly digest?: string | undefined;
}

/** The parts that the outbox of one SIM uses. */
interface SmsOutboxParts {
  readonly channel: AtChannel;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whether the SIM is registered now. */
  readonly isRegistered: () => boolean;
  /** Resolves when the SIM is still the one that messages wait for. */
  readonly confirmSim: () => Promise<void>;
}

interface Waiting {
  readonly request: SendRequest;
  readonly segmentation: Segmentation;
  readonly resolve: (outcome: SmsOutcome) => void;
  readonly reject: (refusal: CommandRefusal) => void;
  timer: Timer | undefined;
  /** Settles when the journal has its intent; `undefined` before that was asked for. */
  intent: Promise<void> | undefined;
  /** Its PDUs, or why there are none; made with the intent. */
  pdus: readonly SubmitPdu[] | Error;
}

/** The messages that one modem is to send, one after the other. */
export class SmsOutbox {
  readonly #parts: SmsOutboxParts;
  readonly #queue: Waiting[] = [];
  #working: Promise<void> | undefined;
  /** Messages that the modem has or had and whose outcomes are not reported yet. */
  readonly #unreported = new Set<Promise<void>>();
  /**
   * The outcomes of all messages that left the queue but the last one are written. With it, after a kill, `MAYBE_GIVEN` commands at most
   * can have been with the modem.
   */
  #earlierWritten: Promise<void> = Promise.resolve();
  #lastWritten: Promise<void> = Promise.resolve();
  /** The journal has the outcome of the last message. */
  #lastTaken: Promise<void> = Promise.resolve();
  /** The last message was given and not answered in time; so many segments went out before. */
  #unanswered:
    | { readonly commandId: string; readonly references: readonly number[]; total: number }
    | undefined;
  #concatenationReference = Math.floor(Math.random() * 256);
  /** How long the disk took for the last intent, and the modem for the last message. */
  #intentMs = 0;
  #submitMs = 0;
  #closed = false;
  readonly #hold = new SharedLock();

  constructor(parts: SmsOutboxParts) {
    this.#parts = parts;
    parts.channel.onUrc(({ line }) => {
      if (line.startsWith('+CMGS:')) void this.#onLateResult(referenceIn(line));
    });
  }

  /**
   * Sends one message once. Resolves with its outcome; rejects with `CommandRefusal` when it was not tried. The caller keeps command ids
   * apart: a second call with one would send again.
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

  /** Gives the modem no other message until the returned function is called. */
  hold(): () => void {
    return this.#hold.take();
  }

  /** Resolves when the messages that left the queue, if any, have their outcomes. */
  async sendingDone(): Promise<void> {
    await Promise.all(this.#unreported);
  }

  /** Refuses waiting messages; a message that the modem has ends by itself or with the port. Idempotent. */
  close(): void {
    this.#closed = true;
    const gone = new CommandRefusal('slot_unavailable', 'The modem disconnected.');
    for (const waiting of [...this.#queue]) this.#drop(waiting, gone);
  }

  #work(): void {
    this.#working ??= this.#workAll();
  }

  async #workAll(): Promise<void> {
    // The promise is in its field before the work ends.
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
        await this.#parts.confirmSim();
      } catch (cause) {
        this.#drop(next, new CommandRefusal('slot_unavailable', 'The SIM may have been changed.', { cause }));
        continue;
      }
      await this.#hold.ended();
      // Meanwhile its deadline may have passed, or the modem may have left.
      if (this.#queue[0] === next && this.#parts.isRegistered()) await this.#perform(next);
    }
    this.#working = undefined;
  }

  /** Has the journal make the intents of the next messages durable: as many as the modem sends meanwhile. */
  #prepare(): void {
    const aheadMs = Math.max(PREPARE_AHEAD_MS, 2 * this.#intentMs);
    const ahead = 1 + Math.floor(aheadMs / Math.max(1, this.#submitMs));
    const { clock, journal } = this.#parts;
    const wanted = Math.min(ahead, PREPARE_AHEAD_MAX);
    // In groups, each of which shares a sync.
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

  /** Takes a message out of the queue that the modem will never see. */
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
    void withdrawn.then((appended) => appended?.settled).then(() => waiting.reject(refusal));
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
    const settled = recorded.then((appended) => appended.settled);
    this.#unreported.add(settled);
    void settled.then(async () => {
      this.#unreported.delete(settled);
      resolve((await submitted).outcome);
    });
    this.#earlierWritten = both(this.#earlierWritten, this.#lastWritten);
    this.#lastWritten = recorded.then(({ written }) => written);
    this.#lastTaken = recorded.then(({ taken }) => taken);
    await submitted;
    this.#submitMs = clock.now() - startedAt;
  }

  /** Never rejects: a bug costs one message its outcome, and no modem its daemon. */
  async #submit(commandId: string, pdus: readonly SubmitPdu[] | Error): Promise<Submitted> {
    const { channel, clock, log } = this.#parts;
    const failed = (outcome: SmsOutcome): Submitted => ({ outcome, references: [], isUnanswered: false });
    this.#unanswered = undefined;
    if (pdus instanceof Error) {
      log.error({ err: pdus, command: commandId }, 'failed to encode a message');
      const at = new Date(clock.now()).toISOString();
      return failed(rejected('not_encodable', 'final', { message: textOf(pdus), at }));
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
      return failed({ status: 'unknown', message: textOf(error), at });
    }
  }

  /** The report of a message may come where its answer does not. */
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

  /** The answer that did not come in time. No other message was given since: it is that one's. */
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
    // The disk may refuse the unknown outcome for now, and must not get it after this one.
    await this.#lastTaken;
    if (journal.state.commands.get(commandId)?.outcome?.status !== 'unknown') return;
    if (references.length < total) this.#append({ kind: 'segment', commandId, reference });
    else this.#append({ kind: 'fact', fact: { kind: 'sms_outcome', command_id: commandId, outcome } });
  }

  /** While other messages wait, the record can wait too: the modem has the next message long before the disk is done. */
  #append(record: NewRecord): PersistentAppended {
    return appendPersistently(this.#parts, [record], { isLazy: this.#queue.length > 0 });
  }
}

/** Keeps nothing of the promises that it waited for: it is chained for as long as the modem sends. */
async function both(one: Promise<unknown>, other: Promise<unknown>): Promise<void> {
  await Promise.all([one, other]);
}

function refused(code: ConstructorParameters<typeof CommandRefusal>[0], message: string): Promise<never> {
  return Promise.reject(new CommandRefusal(code, message));
}
