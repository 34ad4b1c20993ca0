// Audio files of calls: WAVE (RIFF, PCM) in the format of the line, or raw samples.
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { SAMPLE_RATE_HZ } from '#shared/voice/media.ts';
import { isWave, readWave, WAVE_HEADER_BYTES, waveHeader } from '#shared/voice/wave.ts';
import { UsageError } from './failures.ts';

/** The samples of a file: the data chunk of a WAVE, or all of any other file. Throws `UsageError`. */
export function readAudio(file: string): Buffer {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message}`);
  }
  if (!isWave(bytes)) return bytes.subarray(0, bytes.length - (bytes.length % 2));
  const { channels, rateHz, samples } = waveOf(bytes, file);
  if (channels !== 1 || rateHz !== SAMPLE_RATE_HZ)
    throw new UsageError(`${file}: must be PCM, mono, 16 kHz, 16 bit`);
  return Buffer.from(samples.buffer);
}

function waveOf(bytes: Buffer, file: string): ReturnType<typeof readWave> {
  try {
    return readWave(bytes);
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message}`);
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
      throw new UsageError(`${file}: ${(error as Error).message}`);
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
