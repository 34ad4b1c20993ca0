// Removes the RIFF header that some bots put in front of every audio message (RFC 2361, Microsoft WAVE).
import { SAMPLE_RATE_HZ } from '#shared/voice/media.ts';

/** "RIFF", size, "WAVE", a format chunk of 16 bytes, the head of the data chunk. */
export const RIFF_HEADER_BYTES = 44;

const PCM = 1;

/** Audio in another format than that of the stream; the message says which. */
export class AudioFormatError extends Error {
  override name = 'AudioFormatError';
}

/** The samples of a message, a view into it. Throws `AudioFormatError` for a WAVE of another format, or an odd length. */
export function audioOf(message: Buffer): Buffer {
  const audio = startsWithRiff(message) ? withoutHeader(message) : message;
  if (audio.length % 2 !== 0)
    throw new AudioFormatError('samples have 16 bits: send an even number of bytes');
  return audio;
}

/** Compared as numbers, because it runs for every message. "RIFF" and "WAVE", little-endian. */
const startsWithRiff = (message: Buffer): boolean =>
  message.length >= 12 && message.readUInt32LE(0) === 0x46464952 && message.readUInt32LE(8) === 0x45564157;

function withoutHeader(message: Buffer): Buffer {
  const isPlain =
    message.length >= RIFF_HEADER_BYTES &&
    message.toString('latin1', 12, 16) === 'fmt ' &&
    message.readUInt32LE(16) === 16 &&
    message.toString('latin1', 36, 40) === 'data';
  if (!isPlain) throw new AudioFormatError('this RIFF header is not supported: send samples only');
  const format = message.readUInt16LE(20);
  const channels = message.readUInt16LE(22);
  const rateHz = message.readUInt32LE(24);
  const bits = message.readUInt16LE(34);
  if (format !== PCM || channels !== 1 || rateHz !== SAMPLE_RATE_HZ || bits !== 16) {
    throw new AudioFormatError(
      `WAVE format ${format}, ${channels} channels, ${rateHz} Hz, ${bits} bits: send PCM, mono, 16 kHz, 16 bit`,
    );
  }
  return message.subarray(RIFF_HEADER_BYTES);
}
