// WAVE files in memory: PCM of 16 bit, as programs that speak or recognize speech exchange it (RFC 2361).

/** Bytes that are no WAVE, or a WAVE in a format that is not read; the message says which. */
export class WaveError extends Error {
  override name = 'WaveError';
}

interface Wave {
  /** Samples of the first channel. */
  samples: Int16Array;
  rateHz: number;
}

export const WAVE_HEADER_BYTES = 44;
const PCM = 1;
/** WAVE_FORMAT_EXTENSIBLE, which some programs write for PCM. */
const EXTENSIBLE = 0xfffe;
const SAMPLE_BYTES = 2;

/** Rates that speech is made in. */
const RATE_HZ_MIN = 4_000;
const RATE_HZ_MAX = 192_000;

export const isWave = (bytes: Uint8Array): boolean =>
  nameAt(bytes, 0) === 'RIFF' && nameAt(bytes, 8) === 'WAVE';

/** Reads PCM with 16 bits and one or two channels. A data chunk may be longer than the bytes: programs that write to a pipe do not know its size. Throws `WaveError`. */
export function readWave(bytes: Uint8Array): Wave & { channels: number } {
  if (!isWave(bytes)) throw new WaveError('not a WAVE');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let format: { channels: number; rateHz: number } | undefined;
  // Chunks have a name and a size, and begin at even offsets.
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = nameAt(bytes, at);
    const size = view.getUint32(at + 4, true);
    if (name === 'fmt ') format = formatAt(view, at + 8, size);
    if (name === 'data') {
      if (format === undefined) throw new WaveError('a WAVE without a format');
      return { samples: samplesAt(bytes.subarray(at + 8, at + 8 + size), format.channels), ...format };
    }
    at += 8 + size + (size % 2);
  }
  throw new WaveError('a WAVE without samples');
}

function formatAt(view: DataView, at: number, size: number): { channels: number; rateHz: number } {
  if (size < 16 || at + 16 > view.byteLength) throw new WaveError('a WAVE with a short format');
  const [code, channels, bits] = [0, 2, 14].map((offset) => view.getUint16(at + offset, true));
  const rateHz = view.getUint32(at + 4, true);
  const isRead =
    (code === PCM || code === EXTENSIBLE) &&
    bits === 8 * SAMPLE_BYTES &&
    (channels === 1 || channels === 2) &&
    rateHz >= RATE_HZ_MIN &&
    rateHz <= RATE_HZ_MAX;
  if (!isRead)
    throw new WaveError(
      `a WAVE must be PCM with 16 bits and one or two channels, not format ${code}, ${channels} channels, ${rateHz} Hz, ${bits} bits`,
    );
  return { channels, rateHz };
}

function samplesAt(data: Uint8Array, channels: number): Int16Array {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const step = SAMPLE_BYTES * channels;
  return Int16Array.from({ length: Math.floor(data.length / step) }, (_, index) =>
    view.getInt16(index * step, true),
  );
}

/** A WAVE with one channel. */
export function writeWave({ samples, rateHz }: Wave): Uint8Array {
  const size = samples.length * SAMPLE_BYTES;
  const bytes = new Uint8Array(WAVE_HEADER_BYTES + size);
  bytes.set(waveHeader(rateHz, size));
  const view = new DataView(bytes.buffer);
  for (const [index, sample] of samples.entries())
    view.setInt16(WAVE_HEADER_BYTES + index * SAMPLE_BYTES, sample, true);
  return bytes;
}

/** The head of a WAVE with one channel, before `size` bytes of samples. */
export function waveHeader(rateHz: number, size: number): Uint8Array {
  const bytes = new Uint8Array(WAVE_HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  const name = (at: number, text: string): void => {
    for (const [index, letter] of [...text].entries()) view.setUint8(at + index, letter.charCodeAt(0));
  };
  name(0, 'RIFF');
  view.setUint32(4, WAVE_HEADER_BYTES - 8 + size, true);
  name(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, PCM, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rateHz, true);
  view.setUint32(28, rateHz * SAMPLE_BYTES, true);
  view.setUint16(32, SAMPLE_BYTES, true);
  view.setUint16(34, 8 * SAMPLE_BYTES, true);
  name(36, 'data');
  view.setUint32(40, size, true);
  return bytes;
}

const nameAt = (bytes: Uint8Array, at: number): string => String.fromCharCode(...bytes.subarray(at, at + 4));
