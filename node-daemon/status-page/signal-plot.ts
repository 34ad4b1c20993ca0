// Draws a day of signal in dBm as a curve. Pure.
import { Html, html } from '#shared/html.ts';

/** dBm at the top and at the bottom: the range of +CSQ (3GPP TS 27.007 §8.5). */
const TOP_DBM = -51;
const BOTTOM_DBM = -113;
/** Height of the drawing in units of 1 dBm. The page stretches it. */
const HEIGHT = TOP_DBM - BOTTOM_DBM;

/** Returns the mean of each of `count` equal periods; null for periods without values. */
export function binned(samples: readonly (number | null)[], count: number): (number | null)[] {
  const length = samples.length / count;
  return Array.from({ length: count }, (_, index) => {
    let sum = 0;
    let reported = 0;
    for (let at = Math.floor(index * length); at < Math.floor((index + 1) * length); at += 1) {
      const sample = samples[at] ?? null;
      if (sample === null) continue;
      sum += sample;
      reported += 1;
    }
    return reported === 0 ? null : sum / reported;
  });
}

/** Returns the lowest and the highest value, in whole dBm. */
function rangeOf(samples: readonly (number | null)[]): { low: number; high: number } | undefined {
  const reported = samples.filter((sample) => sample !== null);
  return reported.length === 0 ? undefined : { low: Math.min(...reported), high: Math.max(...reported) };
}

/** Returns a description of the curve in words, for screen readers. */
export function describedSignal(samples: readonly (number | null)[]): string {
  const range = rangeOf(samples);
  if (range === undefined) return 'No signal reported in the last day';
  const { low, high } = range;
  return low === high
    ? `Signal of the last day: ${low} dBm`
    : `Signal of the last day: between ${low} and ${high} dBm`;
}

/** Returns the curve of the last day in `count` steps. Without values the drawing is empty. */
export function signalPlot(samples: readonly (number | null)[], count: number): Html {
  const means = binned(samples, count);
  const path = new Html(pathOf(means));
  return html`<svg class="plot" viewBox="0 0 ${count} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${describedSignal(samples)}"><path d="${path}"/></svg>`;
}

/** Returns lines through the values, with gaps for missing ones. A single value is a short line. */
function pathOf(means: readonly (number | null)[]): string {
  let path = '';
  means.forEach((mean, x) => {
    if (mean === null) return;
    const y = heightOf(mean);
    const isFirst = (means[x - 1] ?? null) === null;
    const isAlone = isFirst && (means[x + 1] ?? null) === null;
    path += isFirst ? `M${x} ${y}` : ` ${x} ${y}`;
    if (isAlone) path += 'h1';
  });
  return path;
}

const heightOf = (dbm: number): number => Math.round(TOP_DBM - Math.max(BOTTOM_DBM, Math.min(TOP_DBM, dbm)));
