// The calls that tools speak and listen on. One instance holds the stream of such a call; the others pass their tools on to it.
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { linkedSignal } from '#shared/process/linked-signal.ts';
import { SAMPLE_RATE_HZ } from '#shared/voice/media.ts';
import type { CreateResampler } from '#shared/voice/resample.ts';
import { writeWave } from '#shared/voice/wave.ts';
import type { Base } from '../bus/base.ts';
import { NoAnswer, NoResponder } from '../bus/bus.ts';
import { Refusal } from '../domain/refusal.ts';
import { shownAnswerer } from '../hearing/answered-by.ts';
import { storableText } from '../store/database/reported-values.ts';
import { callNotFound, callSubject } from '../voice/call-id.ts';
import type { CallSession } from '../voice/call-session.ts';
import type { LiveCalls } from '../voice/live-calls.ts';
import type { StreamPlaces } from '../voice/stream-places.ts';
import { resampled, type SpeechPrograms } from './speech-programs.ts';
import { CallOver, SpokenCall, streamOpen } from './spoken-call.ts';

/** Longer than any tool takes, and shorter than the connection of its client lasts. */
const TOOL_TIMEOUT_MS = 110_000;
const CANCEL_TIMEOUT_MS = 2_000;

/** Sample rate of the recordings that tools return: phone calls carry no more, and an answer fits into a message between instances. */
const RECORDING_HZ = 8_000;

interface SpokenCallsParts extends Pick<Base, 'bus' | 'clock' | 'log'> {
  live: LiveCalls;
  places: StreamPlaces;
  programs: SpeechPrograms;
  createResampler: CreateResampler;
}

const toolSchema = z.discriminatedUnion('tool', [
  z.object({ tool: z.literal('say'), text: z.string() }),
  z.object({ tool: z.literal('listen'), waitMs: z.number().min(0) }),
]);
type CallTool = z.infer<typeof toolSchema>;

/** From an instance that got a tool to the one with the stream of the call. */
const passedSchema = z.union([
  z.object({ id: z.string(), subscriptionId: z.string(), tool: toolSchema }),
  z.object({ cancel: z.string() }),
]);

interface Outcome {
  state: SpokenCall['state'];
  answeredBy: ReturnType<typeof shownAnswerer>;
}

interface Said extends Outcome {
  /** Whether the far end has heard it. */
  isHeard: boolean;
  durationMs: number;
}

export interface Heard extends Outcome {
  isComplete: boolean;
  durationMs: number;
  droppedMs: number;
  /** Null if no program recognizes speech, if it failed, and if there were no words. */
  text: string | null;
  keys: string;
  /** A WAVE in base64, if there is no text. */
  recording: string | null;
}

interface Asker {
  subscriptionId: string;
  signal: AbortSignal;
}

export interface Asked extends Asker {
  callId: string;
}

export class SpokenCalls {
  readonly #parts: SpokenCallsParts;
  readonly #calls = new Map<string, SpokenCall>();
  /** Tools that other instances passed on, by id. */
  readonly #passed = new Map<string, AbortController>();

  constructor(parts: SpokenCallsParts) {
    this.#parts = parts;
  }

  /** Opens the stream of a call that was dialed here, so that nothing of the far end is missed. A client may open it instead at any time. */
  begin(callId: string, subscriptionId: string): void {
    const session = this.#parts.live.find(callId, subscriptionId);
    if (session !== undefined && !session.hasStream) this.#open(session);
  }

  /** Says a text. Throws `Refusal`, and the signal's reason. */
  async say(asked: Asked, text: string): Promise<Said> {
    return (await this.#use(asked, { tool: 'say', text })) as Said;
  }

  /** Waits for the far end to say something. Throws as `say`. */
  async listen(asked: Asked, waitMs: number): Promise<Heard> {
    return (await this.#use(asked, { tool: 'listen', waitMs })) as Heard;
  }

  async #use(asked: Asked, tool: CallTool): Promise<Said | Heard> {
    const here = this.#here(asked) ?? (await this.#elsewhere(asked, tool));
    if (!(here instanceof SpokenCall)) return here;
    return this.#run(here, tool, asked);
  }

  #here({ callId, subscriptionId }: Asked): SpokenCall | undefined {
    const call = this.#calls.get(callId);
    return call?.call.subscriptionId === subscriptionId ? call : undefined;
  }

  /** The outcome at the instance that has the call, or the call, if it was opened here because none has it. */
  async #elsewhere(asked: Asked, tool: CallTool): Promise<SpokenCall | Said | Heard> {
    const { callId, signal, subscriptionId } = asked;
    const { live } = this.#parts;
    // Only of the caller's own calls is it said where they are.
    const session = await live.open(storableText(callId), subscriptionId);
    // One that has ended may still have words there that no tool has heard.
    const passed = await this.#pass({ callId, subscriptionId, signal }, tool);
    if (passed !== undefined) return passed;
    if (session === undefined) throw callNotFound(callId);
    await this.#checkUnstreamed(session);
    signal.throwIfAborted();
    const here = this.#here(asked);
    if (here !== undefined) return here;
    // It may have ended meanwhile.
    if (live.find(callId, subscriptionId) !== session) throw callNotFound(callId);
    return this.#open(session);
  }

  async #checkUnstreamed(session: CallSession): Promise<void> {
    const { callId } = session.call;
    const isStreamed = (): boolean => session.hasStream;
    if (!isStreamed()) {
      const place = await this.#parts.places.find(callId);
      if (place === 'unanswered' || place === 'unknown') throw unavailable();
      if (place === 'nowhere' && !isStreamed()) return;
    }
    if (!this.#calls.has(callId)) throw streamOpen();
  }

  /** Undefined if no instance has the call. */
  async #pass({ callId, signal, subscriptionId }: Asked, tool: CallTool): Promise<Said | Heard | undefined> {
    const { bus, clock } = this.#parts;
    const id = randomUUID();
    const subject = subjectOf(callId);
    const onAbort = (): void =>
      void bus.request(subject, { cancel: id }, { timeoutMs: CANCEL_TIMEOUT_MS }).catch(() => undefined);
    signal.throwIfAborted();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const request = { id, subscriptionId, tool };
      const begun = clock.now();
      const answer = (await bus.request(subject, request, { timeoutMs: TOOL_TIMEOUT_MS })) as PassedAnswer;
      signal.throwIfAborted();
      if ('refused' in answer) throw revived(answer.refused);
      this.#parts.log.debug({ call: callId, ms: clock.now() - begun }, 'tool passed to another instance');
      return answer.outcome;
    } catch (error) {
      if (error instanceof NoResponder && !error.isUndecided) return undefined;
      if (error instanceof NoResponder || error instanceof NoAnswer) throw unavailable(error);
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #open(session: CallSession): SpokenCall {
    const { bus, clock } = this.#parts;
    const { callId } = session.call;
    const stopServing = bus.serve(subjectOf(callId), (request) => this.#onPassed(callId, request));
    const call: SpokenCall = new SpokenCall({
      session,
      clock,
      onGone: () => {
        stopServing();
        if (this.#calls.get(callId) === call) this.#calls.delete(callId);
      },
    });
    this.#calls.set(callId, call);
    session.attach(call, { isOther: true });
    return call;
  }

  async #onPassed(callId: string, request: unknown): Promise<PassedAnswer> {
    const passed = passedSchema.parse(request);
    if ('cancel' in passed) {
      this.#passed.get(passed.cancel)?.abort();
      return { outcome: undefined };
    }
    const abort = new AbortController();
    this.#passed.set(passed.id, abort);
    try {
      const call = this.#calls.get(callId);
      const { subscriptionId, tool } = passed;
      if (call?.call.subscriptionId !== subscriptionId) throw callNotFound(callId);
      return { outcome: await this.#run(call, tool, { subscriptionId, signal: abort.signal }) };
    } catch (error) {
      // The instance that passed the tool has given it up, and reads no answer.
      if (abort.signal.aborted && error === abort.signal.reason) return { outcome: undefined };
      if (!(error instanceof Refusal)) throw error;
      const { code, details, headers, message } = error;
      return { refused: { code, details, headers, message } };
    } finally {
      this.#passed.delete(passed.id);
    }
  }

  #run(call: SpokenCall, tool: CallTool, asker: Asker): Promise<Said | Heard> {
    return call.use<Said | Heard>(() =>
      tool.tool === 'say' ? this.#say(call, tool.text, asker) : this.#listen(call, tool.waitMs, asker),
    );
  }

  async #say(call: SpokenCall, text: string, { signal, subscriptionId }: Asker): Promise<Said> {
    const speaking = linkedSignal(signal, call.over);
    try {
      const samples = await this.#parts.programs.speak(text, { subscriptionId, signal: speaking.signal });
      const isHeard = await call.play(samples, signal);
      return { ...outcomeOf(call), isHeard, durationMs: msOf(samples) };
    } catch (error) {
      if (!(error instanceof CallOver)) throw error;
      return { ...outcomeOf(call), isHeard: false, durationMs: 0 };
    } finally {
      speaking.unlink();
    }
  }

  async #listen(call: SpokenCall, waitMs: number, { signal, subscriptionId }: Asker): Promise<Heard> {
    const { createResampler, programs } = this.#parts;
    const turn = await call.hear(waitMs, signal);
    const keys = call.takeKeys();
    const nothing = { isComplete: true, durationMs: 0, droppedMs: 0, text: null, keys, recording: null };
    if (turn === undefined) return { ...outcomeOf(call), ...nothing };
    const { droppedMs, isComplete, samples } = turn;
    // Also after the end of the call: these are its last words.
    const text = await programs.recognize(samples, { subscriptionId, signal }).catch((error: unknown) => {
      call.putBack(turn, keys);
      throw error;
    });
    const recorded = () =>
      writeWave({
        samples: resampled(samples, { from: SAMPLE_RATE_HZ, to: RECORDING_HZ, createResampler }),
        rateHz: RECORDING_HZ,
      });
    const recording = text === null ? Buffer.from(recorded()).toString('base64') : null;
    return { ...outcomeOf(call), isComplete, durationMs: msOf(samples), droppedMs, text, keys, recording };
  }
}

type PassedAnswer =
  | { outcome: Said | Heard | undefined }
  | { refused: Pick<Refusal, 'code' | 'message' | 'details' | 'headers'> };

const revived = ({
  code,
  details,
  headers,
  message,
}: Pick<Refusal, 'code' | 'message' | 'details' | 'headers'>) =>
  new Refusal(code, message, { details, headers });

function outcomeOf(call: SpokenCall): Outcome {
  const { answeredAt, answeredBy } = call.call;
  const hasEnded = call.state === 'ended';
  return { state: call.state, answeredBy: shownAnswerer({ answeredBy, answeredAt, hasEnded }) };
}

const msOf = (samples: Int16Array): number => Math.round((samples.length * 1_000) / SAMPLE_RATE_HZ);

const subjectOf = (callId: string): string => callSubject('speech', callId);

const unavailable = (cause?: unknown): Refusal =>
  new Refusal('unavailable', 'The instance that has the call does not answer. Try again in a few seconds.', {
    headers: { 'Retry-After': '5' },
    cause,
  });
