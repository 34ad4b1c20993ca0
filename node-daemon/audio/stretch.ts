// Makes a frame a sample longer or shorter, to keep two different clocks together without a click.

/**
 * Resamples `samples` to `length` samples, by cubic interpolation (Catmull and Rom). `before` is the preceding sample, and
 * `behind` are the next two, or fewer if there are fewer.
 */
export function stretched(
  before: number,
  samples: Int16Array,
  behind: Int16Array,
  length: number,
): Int16Array {
  const at = (index: number): number => {
    if (index < 0) return before;
    return samples[index] ?? behind[index - samples.length] ?? behind.at(-1) ?? samples.at(-1) ?? 0;
  };
  const step = samples.length / length;
  return Int16Array.from({ length }, (_, index) => {
    const position = index * step;
    const whole = Math.floor(position);
    const [a, b, c, d] = [at(whole - 1), at(whole), at(whole + 1), at(whole + 2)];
    return clamped(between(a, b, c, d, position - whole));
  });
}

function between(a: number, b: number, c: number, d: number, t: number): number {
  return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

const clamped = (sample: number): number => Math.max(-32_768, Math.min(32_767, Math.round(sample)));
