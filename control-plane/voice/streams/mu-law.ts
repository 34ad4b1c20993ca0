// ITU-T G.711 mu-law: 8 bits per sample, to and from linear 16-bit samples.

/** Table 2a of G.711 has 14 bits: 16-bit samples are four times that. The bias is 33 there. */
const BIAS = 33 << 2;
/** The virtual decision value of the last interval, 8159 there, is the end of the range. */
const MAGNITUDE_MAX = (8_159 << 2) - 1;

/** Values of G.711 table 2a, of bytes as they are sent: all bits inverted. */
const DECODED = Int16Array.from({ length: 256 }, (_, byte) => {
  const code = ~byte & 0xff;
  const segment = (code >> 4) & 0x07;
  const magnitude = ((((code & 0x0f) << 3) + BIAS) << segment) - BIAS;
  return (code & 0x80) === 0 ? magnitude : -magnitude;
});

/** One entry per quarter of magnitude and bias, which is the unit of the table. */
const ENCODED = Uint8Array.from({ length: ((MAGNITUDE_MAX + BIAS) >> 2) + 1 }, (_, quarter) => {
  const biased = Math.max(quarter << 2, BIAS);
  const segment = Math.min(7, 31 - Math.clz32(biased) - 7);
  return (segment << 4) | ((biased >> (segment + 3)) & 0x0f);
});

export function encodeMuLaw(samples: Int16Array): Uint8Array {
  const bytes = new Uint8Array(samples.length);
  for (let at = 0; at < samples.length; at += 1) {
    const sample = samples[at] ?? 0;
    const magnitude = Math.min(Math.abs(sample), MAGNITUDE_MAX);
    const code = ENCODED[(magnitude + BIAS) >> 2] ?? 0;
    bytes[at] = ~(sample < 0 ? code | 0x80 : code) & 0xff;
  }
  return bytes;
}

export function decodeMuLaw(bytes: Uint8Array): Int16Array {
  const samples = new Int16Array(bytes.length);
  for (let at = 0; at < bytes.length; at += 1) samples[at] = DECODED[bytes[at] ?? 0] ?? 0;
  return samples;
}
