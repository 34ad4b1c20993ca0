// A frame of voice: 20 ms of signed 16 bit samples, one channel.

/** Length of one frame; all codecs of 3GPP mobiles count in it (3GPP TS 26.071, TS 26.171). */
export const FRAME_MS = 20;
/** In the network, at the far ends and on `WebSocket /calls/{id}/audio`. */
export const NETWORK_RATE_HZ = 16_000;
/** Samples of a frame in the network. */
export const NETWORK_FRAME_SAMPLES = (NETWORK_RATE_HZ * FRAME_MS) / 1000;
/** From here on a frame is not silent: -60 dBFS. */
export const LOUD_PEAK = 33;

/** Sample rates that a modem can use. */
export type SampleRateHz = 8000 | 16_000;

/** 160 or 320. */
export function frameSamplesOf(rateHz: SampleRateHz): number {
  return (rateHz * FRAME_MS) / 1000;
}

/** Highest absolute sample, 0 to 32768. */
export function peakOf(frame: Int16Array): number {
  let peak = 0;
  for (const sample of frame) {
    const level = Math.abs(sample);
    if (level > peak) peak = level;
  }
  return peak;
}

/** S16LE octets of samples, in memory of their own. */
export function bytesOf(samples: Int16Array): Buffer {
  const bytes = Buffer.allocUnsafe(samples.length * 2);
  for (let index = 0; index < samples.length; index++) bytes.writeInt16LE(samples[index] ?? 0, index * 2);
  return bytes;
}

/** Samples of S16LE octets; half a sample at the end is left out. */
export function samplesOf(bytes: Buffer): Int16Array {
  const samples = new Int16Array(bytes.length >> 1);
  for (let index = 0; index < samples.length; index++) samples[index] = bytes.readInt16LE(index * 2);
  return samples;
}

/** To the nearest value that 16 bits hold. */
export function clipped(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)));
}
