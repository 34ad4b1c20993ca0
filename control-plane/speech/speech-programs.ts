// Speech made and recognized by the operator's programs.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { SAMPLE_RATE_HZ } from '#shared/voice/media.ts';
import type { CreateResampler } from '#shared/voice/resample.ts';
import { isWave, readWave, WaveError, writeWave } from '#shared/voice/wave.ts';
import { Refusal } from '../domain/refusal.ts';
import { ProgramError, runSpeechProgram } from './program.ts';

/** Programs that run at once on an instance: each may use a core. */
const RUNNING_MAX = 4;
const RETRY_AFTER_SECONDS = 2;

/** Longest speech of one text. */
const SPEECH_MS_MAX = 40_000;
/** That, with two channels of 48 kHz. */
export const SPEECH_BYTES_MAX = (SPEECH_MS_MAX / 1_000) * 48_000 * 4;

export const WORDS_BYTES_MAX = 64 * 1024;
const WORDS_CHARACTERS_MAX = 4_000;

interface SpeechProgramsParts {
  /** Reads text on standard input, writes a WAVE, or samples at 16 kHz. Undefined: the service cannot speak. */
  speechCommand: string | undefined;
  /** Reads a WAVE of 16 kHz on standard input, writes text. */
  recognitionCommand: string | undefined;
  speechTimeoutMs: number;
  createResampler: CreateResampler;
  clock: Clock;
  log: Logger;
}

/** For whom a program runs, and until when. */
interface Task {
  subscriptionId: string;
  signal: AbortSignal;
}

export class SpeechPrograms {
  readonly #parts: SpeechProgramsParts;
  /** Subscriptions with a program that runs. One each, so that none takes the places of others. */
  readonly #running = new Set<string>();

  constructor(parts: SpeechProgramsParts) {
    this.#parts = parts;
  }

  get canSpeak(): boolean {
    return this.#parts.speechCommand !== undefined;
  }

  /** Samples of the text at 16 kHz. Throws `Refusal` `speech_failed`, `overloaded`, `invalid_request` for a text that takes too long to say. */
  async speak(text: string, task: Task): Promise<Int16Array> {
    const { createResampler, log, speechCommand } = this.#parts;
    if (speechCommand === undefined) throw new Error('no program speaks');
    let samples: Int16Array;
    try {
      const output = await this.#run(speechCommand, text, SPEECH_BYTES_MAX, task);
      samples = speechIn(output, createResampler);
    } catch (error) {
      if (!(error instanceof ProgramError) && !(error instanceof WaveError)) throw error;
      log.warn({ err: error }, 'the program of SPEECH_COMMAND failed');
      throw new Refusal('speech_failed', 'The service could not make speech of the text.', { cause: error });
    }
    const ms = (samples.length * 1_000) / SAMPLE_RATE_HZ;
    if (ms > SPEECH_MS_MAX)
      throw new Refusal(
        'invalid_request',
        `The text takes ${Math.ceil(ms / 1_000)} s to say, and at most ${SPEECH_MS_MAX / 1_000} s are allowed.`,
        { details: { field: 'text' } },
      );
    return samples;
  }

  /** The words in 16 kHz samples; null if no program recognizes speech, or it failed. Throws `Refusal` `overloaded`. */
  async recognize(samples: Int16Array, task: Task): Promise<string | null> {
    const { log, recognitionCommand } = this.#parts;
    if (recognitionCommand === undefined) return null;
    try {
      const wave = writeWave({ samples, rateHz: SAMPLE_RATE_HZ });
      const output = await this.#run(recognitionCommand, wave, WORDS_BYTES_MAX, task);
      return wordsIn(output);
    } catch (error) {
      if (task.signal.aborted || error instanceof Refusal) throw error;
      log.warn({ err: error }, 'the program of RECOGNITION_COMMAND failed');
      return null;
    }
  }

  async #run(
    command: string,
    input: string | Uint8Array,
    outputBytesMax: number,
    { signal, subscriptionId }: Task,
  ) {
    if (this.#running.has(subscriptionId))
      throw overloaded('Another text of this number is being spoken or recognized. Try again soon.');
    if (this.#running.size >= RUNNING_MAX)
      throw overloaded('Too many texts are being spoken or recognized. Try again soon.');
    this.#running.add(subscriptionId);
    try {
      const { clock, speechTimeoutMs: timeoutMs } = this.#parts;
      return await runSpeechProgram(command, input, { clock, timeoutMs, outputBytesMax, signal });
    } finally {
      this.#running.delete(subscriptionId);
    }
  }
}

const overloaded = (message: string): Refusal =>
  new Refusal('overloaded', message, { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } });

/** The words that a program recognized. */
export const wordsIn = (output: Buffer): string =>
  output.toString().replaceAll('\u0000', '').trim().slice(0, WORDS_CHARACTERS_MAX);

/** 16 kHz samples of a program's output. Throws `WaveError`. */
export function speechIn(output: Buffer, createResampler: CreateResampler): Int16Array {
  if (!isWave(output)) {
    const samples = output.subarray(0, output.length - (output.length % 2));
    if (samples.length === 0) throw new WaveError('no speech');
    return new Int16Array(new Uint8Array(samples).buffer);
  }
  const { rateHz, samples } = readWave(output);
  return resampled(samples, { from: rateHz, to: SAMPLE_RATE_HZ, createResampler });
}

export function resampled(
  samples: Int16Array,
  { createResampler, from, to }: { createResampler: CreateResampler; from: number; to: number },
): Int16Array {
  if (from === to) return samples;
  const resampler = createResampler(from, to);
  try {
    return resampler.process(samples);
  } finally {
    resampler.close();
  }
}
