// A day of signal as a curve: the bars of a terminal or a phone, in dBm. Pure.
import { Html, html } from '#shared/html.ts';

/** dBm at the top and at the bottom: the range of +CSQ (3GPP TS 27.007 §8.5). */
const TOP_DBM = -51;
const BOTTOM_DBM = -113;
/** Units of the drawing, one for each dBm; it is stretched to its place. */
const HEIGHT = TOP_DBM - BOTTOM_DBM;

/** The mean of each of `count` equal stretches; null where nothing was reported. */
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

/** The lowest and the highest, in whole dBm. */
function rangeOf(samples: readonly (number | null)[]): { low: number; high: number } | undefined {
  const reported = samples.filter((sample) => sample !== null);
  return reported.length === 0 ? undefined : { low: Math.min(...reported), high: Math.max(...reported) };
}

/** In words, for people who do not see the curve. */
export function describedSignal(samples: readonly (number | null)[]): string {
  const range = rangeOf(samples);
  if (range === undefined) return 'No signal reported in the last day';
  const { low, high } = range;
  return low === high
    ? `Signal of the last day: ${low} dBm`
    : `Signal of the last day: between ${low} and ${high} dBm`;
}

/** The curve of the last day, in `count` steps; with nothing measured an empty drawing. */
export function signalPlot(samples: readonly (number | null)[], count: number): Html {
  const means = binned(samples, count);
  const path = new Html(pathOf(means));
  return html`<svg class="plot" viewBox="0 0 ${count} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${describedSignal(samples)}"><path d="${path}"/></svg>`;
}

/** Lines through the values, broken where nothing was reported; a value alone is a short line. */
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
