// Judges who answered a call while its audio passes, and records and publishes that once.
import type { Answerer } from '#shared/voice/call.ts';
import { SAMPLE_RATE_HZ, samplesOf } from '#shared/voice/media.ts';
import type { Base } from '../bus/base.ts';
import { type CallRow, setAnsweredBy } from '../store/messages/calls.ts';
import { featuresOf } from './frame-features.ts';
import { addFrame, NO_GREETING } from './greeting.ts';

/** Audio that begins later misses the greeting. */
const LATE_MS = 4_000;

/** Frames until a verdict that could not be stored is stored again: a second. */
const STORE_AGAIN_FRAMES = 50;

export class AnswerDetection {
  readonly #parts: Pick<Base, 'db' | 'bus' | 'clock' | 'log'>;
  readonly #callId: string;
  readonly #onVerdict: (verdict: Answerer) => void;
  #greeting = NO_GREETING;
  #isDone = false;
  #framesToStore = 0;

  constructor(
    parts: Pick<Base, 'db' | 'bus' | 'clock' | 'log'>,
    callId: string,
    onVerdict: (verdict: Answerer) => void,
  ) {
    this.#parts = parts;
    this.#callId = callId;
    this.#onVerdict = onVerdict;
  }

  /** Takes the next 20 ms of the far end. Never waits, never throws. */
  hear(audio: Uint8Array, { answeredAt, state }: Pick<CallRow, 'answeredAt' | 'state'>): void {
    // Before the answer the far end is the network: it rings.
    if (this.#isDone || state !== 'active') return;
    if (this.#greeting.verdict === undefined) this.#judge(audio, answeredAt);
    const { verdict } = this.#greeting;
    if (verdict === undefined) return;
    this.#framesToStore -= 1;
    if (this.#framesToStore < 0) this.#store(verdict);
  }

  #judge(audio: Uint8Array, answeredAt: Date | null): void {
    const isFirst = this.#greeting.frames === 0;
    const lateMs = answeredAt === null ? 0 : this.#parts.clock.now() - answeredAt.getTime();
    if (isFirst && lateMs > LATE_MS) this.#greeting = { ...NO_GREETING, verdict: 'unknown' };
    else this.#greeting = addFrame(this.#greeting, featuresOf(samplesOf(audio), SAMPLE_RATE_HZ));
  }

  #store(verdict: Answerer): void {
    const { db, bus, clock, log } = this.#parts;
    this.#framesToStore = STORE_AGAIN_FRAMES;
    setAnsweredBy(db, this.#callId, verdict, new Date(clock.now())).then(
      (call: CallRow | undefined) => {
        this.#isDone = true;
        if (call === undefined) return;
        this.#onVerdict(verdict);
        bus.publish({ kind: 'call_judged', call, judgedAt: new Date(clock.now()) });
      },
      (error: unknown) => log.warn({ err: error, call: this.#callId }, 'storing who answered a call failed'),
    );
  }
}
