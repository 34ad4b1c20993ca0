// Do the operator's programs speak, and recognize speech? Some words are spoken, and recognized again.
import { systemClock } from '#shared/clock.ts';
import { type Outcome, ok, problem, skipped, warning } from '#shared/operator/findings.ts';
import { SAMPLE_RATE_HZ } from '#shared/voice/media.ts';
import { loadResampler } from '#shared/voice/resample.ts';
import { WaveError, writeWave } from '#shared/voice/wave.ts';
import { ProgramError, runSpeechProgram } from '../../speech/program.ts';
import { SPEECH_BYTES_MAX, speechIn, WORDS_BYTES_MAX, wordsIn } from '../../speech/speech-programs.ts';
import { type Check, type CheckedSettings, once } from './check.ts';

/** Without numbers, which recognizers write in several ways. */
const WORDS = 'Good morning';

/** Quieter than -50 dB of full scale: no caller hears it. */
const PEAK_MIN = 100;

/** To end a program that took too long. */
const MARGIN_MS = 1_000;

const SEEN_CHARACTERS_MAX = 120;

interface Spoken {
  outcome: Outcome;
  /** Undefined if there is no speech. */
  samples: Int16Array | undefined;
}

export function speechChecks({ config }: CheckedSettings): Check[] {
  const { recognitionCommand, speechCommand, speechTimeoutMs: timeoutMs } = config;
  const run = (command: string, input: string | Uint8Array, outputBytesMax: number, signal: AbortSignal) =>
    runSpeechProgram(command, input, { clock: systemClock, timeoutMs, outputBytesMax, signal });
  const giveUp = new AbortController();
  const spoken = once(async (): Promise<Spoken> => {
    if (speechCommand === undefined)
      return { outcome: skipped('SPEECH_COMMAND is not set: no tool `say`'), samples: undefined };
    return speak((text) => run(speechCommand, text, SPEECH_BYTES_MAX, giveUp.signal));
  });
  return [
    {
      check: 'speech',
      chain: null,
      timeoutMs: timeoutMs + MARGIN_MS,
      async run(signal) {
        signal.addEventListener('abort', () => giveUp.abort(signal.reason));
        return (await spoken()).outcome;
      },
    },
    {
      check: 'recognition',
      chain: null,
      timeoutMs: 2 * timeoutMs + 2 * MARGIN_MS,
      async run(signal) {
        if (recognitionCommand === undefined)
          return skipped('RECOGNITION_COMMAND is not set: `listen` returns recordings');
        const { samples } = await spoken();
        return recognize((wave) => run(recognitionCommand, wave, WORDS_BYTES_MAX, signal), samples);
      },
    },
  ];
}

async function speak(run: (text: string) => Promise<Buffer>): Promise<Spoken> {
  const beganAt = systemClock.now();
  try {
    const samples = speechIn(await run(WORDS), await loadResampler());
    const seconds = inSeconds((samples.length * 1_000) / SAMPLE_RATE_HZ);
    const seen = `spoke "${WORDS}" for ${seconds}, made in ${inSeconds(systemClock.now() - beganAt)}`;
    if (samples.some((sample) => Math.abs(sample) >= PEAK_MIN)) return { outcome: ok(seen), samples };
    const advice = 'Check that SPEECH_COMMAND reads the text on its standard input, and its volume.';
    return { outcome: problem(`${seen}, and it is silence`, advice), samples: undefined };
  } catch (error) {
    return { outcome: failureOf(error, 'SPEECH_COMMAND'), samples: undefined };
  }
}

/** `samples`: undefined without speech. A second of silence shows whether the program runs. */
async function recognize(
  run: (wave: Uint8Array) => Promise<Buffer>,
  samples: Int16Array | undefined,
): Promise<Outcome> {
  const beganAt = systemClock.now();
  try {
    const speech = samples ?? new Int16Array(SAMPLE_RATE_HZ);
    const words = wordsIn(await run(writeWave({ samples: speech, rateHz: SAMPLE_RATE_HZ })));
    const took = `in ${inSeconds(systemClock.now() - beganAt)}`;
    if (samples === undefined) return ok(`runs (${took}); there was no speech to recognize`);
    const heard = lineOf(words);
    if (plain(words) === plain(WORDS)) return ok(`recognized "${heard}" ${took}`);
    return warning(
      `recognized "${heard}" ${took}; "${WORDS}" was spoken`,
      'Check the language and the model of RECOGNITION_COMMAND, and the voice of SPEECH_COMMAND.',
    );
  } catch (error) {
    return failureOf(error, 'RECOGNITION_COMMAND');
  }
}

function failureOf(error: unknown, option: string): Outcome {
  if (!(error instanceof ProgramError) && !(error instanceof WaveError)) throw error;
  return problem(
    lineOf(error.message),
    `Run the program of ${option} by hand, as the user of the service. It gets PATH and LANG only, and no shell.`,
  );
}

const plain = (words: string): string =>
  words
    .toLowerCase()
    .replaceAll(/[^\p{L}]+/gu, ' ')
    .trim();
const lineOf = (text: string): string =>
  text
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, SEEN_CHARACTERS_MAX);
const inSeconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
