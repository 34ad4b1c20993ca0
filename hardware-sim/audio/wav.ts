// WAV files of 16 bit samples with one channel: reads those that a far end plays, writes those that it records.
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { bytesOf, NETWORK_RATE_HZ, samplesOf } from './frame.ts';
import { Interpolator } from './half-band.ts';

const HEADER_BYTES = 44;
/** Two hours: room for a call of an hour, and an end. */
const RECORDING_BYTES_MAX = 2 * 3600 * NETWORK_RATE_HZ * 2;
/** Written together: a second. */
const CHUNK_BYTES = NETWORK_RATE_HZ * 2;

/** A file that is no such WAV; the message says what it must be. */
export class WavError extends Error {
  override name = 'WavError';
}

/** Samples at the rate of the network. Throws `WavError`. */
export function samplesOfWav(file: Buffer): Int16Array {
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WAVE') {
    throw new WavError('must be a RIFF WAVE file');
  }
  let rateHz: number | undefined;
  for (let offset = 12; offset + 8 <= file.length; ) {
    const name = file.toString('latin1', offset, offset + 4);
    const size = file.readUInt32LE(offset + 4);
    const body = file.subarray(offset + 8, offset + 8 + size);
    if (name === 'fmt ') rateHz = rateOf(body);
    if (name === 'data' && rateHz !== undefined) {
      const samples = samplesOf(body);
      return rateHz === NETWORK_RATE_HZ ? samples : new Interpolator().process(samples);
    }
    offset += 8 + size + (size % 2);
  }
  throw new WavError('must have a fmt chunk and a data chunk behind it');
}

function rateOf(format: Buffer): number {
  if (format.length < 16) throw new WavError('has a fmt chunk that is too short');
  const [coding, channels] = [format.readUInt16LE(0), format.readUInt16LE(2)];
  const [rateHz, bits] = [format.readUInt32LE(4), format.readUInt16LE(14)];
  if (coding !== 1 || channels !== 1 || bits !== 16 || (rateHz !== 8000 && rateHz !== NETWORK_RATE_HZ)) {
    throw new WavError('must be 16 bit PCM, mono, 8000 or 16000 Hz');
  }
  return rateHz;
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
    writeSync(this.#file, headerOf(0));
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
    this.#write(headerOf(this.#bytes), 0);
    closeSync(this.#file);
  }

  #flush(): void {
    const chunk = Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#chunkBytes = 0;
    this.#write(chunk, HEADER_BYTES + this.#bytes);
    if (!this.#hasFailed) this.#bytes += chunk.length;
  }

  /** A full disk must not end the calls of the rack. */
  #write(bytes: Buffer, position: number): void {
    try {
      writeSync(this.#file, bytes, 0, bytes.length, position);
    } catch {
      this.#hasFailed = true;
    }
  }
}

function headerOf(dataBytes: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(HEADER_BYTES - 8 + dataBytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(NETWORK_RATE_HZ, 24);
  header.writeUInt32LE(NETWORK_RATE_HZ * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(dataBytes, 40);
  return header;
}
