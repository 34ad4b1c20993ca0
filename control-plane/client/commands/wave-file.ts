// Audio files of calls: WAVE (RIFF, PCM) in the format of the line, or raw samples.
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { SAMPLE_RATE_HZ } from '#shared/voice/media.ts';
import { UsageError } from './failures.ts';

const HEADER_BYTES = 44;
const PCM = 1;
/** WAVE_FORMAT_EXTENSIBLE, which some programs write for PCM. */
const EXTENSIBLE = 0xfffe;
const FORMAT = 'PCM, mono, 16 kHz, 16 bit';

/** The samples of a file: the data chunk of a WAVE, or all of any other file. Throws `UsageError`. */
export function readAudio(file: string): Buffer {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message}`);
  }
  const isWave = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WAVE';
  const samples = isWave ? samplesOf(bytes, file) : bytes;
  return samples.subarray(0, samples.length - (samples.length % 2));
}

function samplesOf(bytes: Buffer, file: string): Buffer {
  let isRight = false;
  // Chunks have a name and a size, and begin at even offsets.
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString('latin1', at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    const body = bytes.subarray(at + 8, at + 8 + size);
    if (name === 'fmt ' && body.length >= 16) isRight = isRightFormat(body);
    if (name === 'data') {
      if (!isRight) throw new UsageError(`${file}: must be ${FORMAT}`);
      return body;
    }
    at += 8 + size + (size % 2);
  }
  throw new UsageError(`${file}: a WAVE without samples`);
}

const isRightFormat = (format: Buffer): boolean =>
  [PCM, EXTENSIBLE].includes(format.readUInt16LE(0)) &&
  format.readUInt16LE(2) === 1 &&
  format.readUInt32LE(4) === SAMPLE_RATE_HZ &&
  format.readUInt16LE(14) === 16;

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
    if (this.#isWave) writeSync(this.#file, waveHeader(0));
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** A full disk ends the recording, not the call. */
  add(samples: Buffer): void {
    if (this.problem !== undefined) return;
    try {
      writeSync(this.#file, samples);
      this.#bytes += samples.length;
    } catch (error) {
      this.problem = `the recording ends early: ${(error as Error).message}`;
    }
  }

  close(): void {
    if (this.#isWave) writeSync(this.#file, waveHeader(this.#bytes), 0, HEADER_BYTES, 0);
    closeSync(this.#file);
  }
}

function waveHeader(bytes: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(HEADER_BYTES - 8 + bytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(PCM, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(SAMPLE_RATE_HZ, 24);
  header.writeUInt32LE(SAMPLE_RATE_HZ * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(bytes, 40);
  return header;
}
