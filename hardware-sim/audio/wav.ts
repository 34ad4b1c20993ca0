// WAV files of 16 bit samples with one channel: reads those that a far end plays, writes those that it records.
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { readWave, WAVE_HEADER_BYTES, WaveError, waveHeader } from '#shared/voice/wave.ts';
import { bytesOf, NETWORK_RATE_HZ } from './frame.ts';
import { Interpolator } from './half-band.ts';

/** Two hours: room for a call of an hour, and an end. */
const RECORDING_BYTES_MAX = 2 * 3600 * NETWORK_RATE_HZ * 2;
/** Written together: a second. */
const CHUNK_BYTES = NETWORK_RATE_HZ * 2;

/** Samples at the rate of the network. Throws `WaveError`. */
export function samplesOfWav(file: Buffer): Int16Array {
  const { channels, rateHz, samples } = readWave(file);
  if (channels !== 1 || (rateHz !== 8000 && rateHz !== NETWORK_RATE_HZ))
    throw new WaveError('must be 16 bit PCM, mono, 8000 or 16000 Hz');
  return rateHz === NETWORK_RATE_HZ ? samples : new Interpolator().process(samples);
}

/** A WAV of 16 kHz that grows by the second. It is whole after `close`. */
export class WavRecorder {
  readonly #file: number;
  #chunks: Buffer[] = [];
  #chunkBytes = 0;
  #bytes = 0;
  #hasFailed = false;

  /** Replaces the file, and makes its folder. Throws a file system error. */
  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true });
    this.#file = openSync(path, 'w');
    writeSync(this.#file, waveHeader(NETWORK_RATE_HZ, 0));
  }

  /** Whether a write failed, so that the file is shorter than the call. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Beyond two hours nothing is added. */
  add(samples: Int16Array): void {
    if (this.#hasFailed || this.#bytes + this.#chunkBytes >= RECORDING_BYTES_MAX) return;
    this.#chunks.push(bytesOf(samples));
    this.#chunkBytes += samples.length * 2;
    if (this.#chunkBytes >= CHUNK_BYTES) this.#flush();
  }

  close(): void {
    this.#flush();
    this.#write(waveHeader(NETWORK_RATE_HZ, this.#bytes), 0);
    closeSync(this.#file);
  }

  #flush(): void {
    const chunk = Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#chunkBytes = 0;
    this.#write(chunk, WAVE_HEADER_BYTES + this.#bytes);
    if (!this.#hasFailed) this.#bytes += chunk.length;
  }

  /** A full disk must not end the calls of the rack. */
  #write(bytes: Uint8Array, position: number): void {
    try {
      writeSync(this.#file, bytes, 0, bytes.length, position);
    } catch {
      this.#hasFailed = true;
    }
  }
}
