// Audio files of calls: WAVE (RIFF, PCM) in the format of the line, and raw samples.
import { closeSync, openSync, writeSync } from 'node:fs';
import { SAMPLE_RATE_HZ } from '#shared/voice/media.ts';
import { isWave, readWave, WAVE_HEADER_BYTES, waveHeader } from '#shared/voice/wave.ts';
import { readInput, UsageError, unusable } from './failures.ts';

const FORMAT = 'PCM, mono, 16 kHz, 16 bit';

/** The samples of a WAVE; with `isRaw` those of a file that has nothing else. Throws `UsageError`. */
export function readAudio(file: string, { isRaw = false }: { isRaw?: boolean | undefined } = {}): Buffer {
  const bytes = readInput(file);
  if (isRaw) return rawSamples(bytes, file);
  if (!isWave(bytes))
    throw new UsageError(
      `${file}: not a WAVE file. ${CONVERT}\nIf it has raw samples (${FORMAT}), add --raw.`,
    );
  const { channels, rateHz, samples } = waveOf(bytes, file);
  if (channels !== 1 || rateHz !== SAMPLE_RATE_HZ)
    throw new UsageError(
      `${file}: must be ${FORMAT}, not ${channels === 1 ? 'mono' : 'stereo'}, ${rateHz} Hz. ${CONVERT}`,
    );
  return Buffer.from(samples.buffer);
}

const CONVERT = 'To convert it: ffmpeg -i FILE -ar 16000 -ac 1 -c:a pcm_s16le out.wav';

function rawSamples(bytes: Buffer, file: string): Buffer {
  if (isWave(bytes)) throw new UsageError(`${file}: a WAVE file. Leave --raw out.`);
  if (bytes.length % 2 !== 0)
    throw new UsageError(`${file}: not raw samples of 16 bit: it has an odd number of bytes`);
  return bytes;
}

function waveOf(bytes: Buffer, file: string): ReturnType<typeof readWave> {
  try {
    return readWave(bytes);
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message}. ${CONVERT}`);
  }
}

/** Writes samples as they arrive; the sizes in the header are correct once it is closed. */
export class Recording {
  readonly #file: number;
  readonly #isWave: boolean;
  #bytes = 0;
  /** Why the recording is incomplete. */
  problem: string | undefined;

  constructor(file: string) {
    try {
      this.#file = openSync(file, 'w', 0o600);
    } catch (error) {
      throw unusable(file, error);
    }
    this.#isWave = /\.wav$/i.test(file);
    if (this.#isWave) writeSync(this.#file, waveHeader(SAMPLE_RATE_HZ, 0));
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** A full disk ends the recording, not the call. */
  add(samples: Uint8Array): void {
    if (this.problem !== undefined) return;
    try {
      writeSync(this.#file, samples);
      this.#bytes += samples.length;
    } catch (error) {
      this.problem = `the recording ends early: ${(error as Error).message}`;
    }
  }

  close(): void {
    if (this.#isWave) writeSync(this.#file, waveHeader(SAMPLE_RATE_HZ, this.#bytes), 0, WAVE_HEADER_BYTES, 0);
    closeSync(this.#file);
  }
}
