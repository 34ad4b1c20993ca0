// Plots: the series, made of samples, with a sentence for screen readers, and the drawing. A script makes one of it that can be read off.
import { type Html, html } from '#shared/html.ts';
import type { Sample, Span } from '../../store/operations/samples.ts';

const MINUTE_MS = 60_000;

const RANGES = {
  hour: { lengthMs: 60 * MINUTE_MS, stepMs: MINUTE_MS },
  day: { lengthMs: 24 * 60 * MINUTE_MS, stepMs: 10 * MINUTE_MS },
  week: { lengthMs: 7 * 24 * 60 * MINUTE_MS, stepMs: 60 * MINUTE_MS },
} as const;

export type Range = keyof typeof RANGES;
export const RANGE_NAMES = Object.keys(RANGES) as [Range, ...Range[]];

/** In whole steps, but for the last one: it is under way, up to the last minute that is over. */
export function spanOf(range: Range, nowMs: number): Span {
  const { lengthMs, stepMs } = RANGES[range];
  const until = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  const since = Math.ceil((until - lengthMs) / stepMs) * stepMs;
  return { since: new Date(since), until: new Date(until), stepMs };
}

interface Series {
  label: string;
  /** Names a colour of the style. */
  colour: 'first' | 'second' | 'third' | 'bad';
  /** One a step; null where nothing is known. */
  values: Array<number | null>;
}

interface Plot {
  id: string;
  title: string;
  /** Behind a value. */
  unit: string;
  /** Values that are always within the plot. */
  bounds: readonly [number, number] | null;
  span: Span;
  series: Series[];
}

/** Message and call rates, delivery success, audio and pool. */
export function fleetPlots(samples: readonly Sample[], span: Span): Plot[] {
  const of = steps(samples, span);
  const rate = (key: 'smsSent' | 'smsReceived' | 'callsAnswered' | 'callsFailed') =>
    of((sample) => sample[key] / sample.minutes);
  const share = (part: number, whole: number, unit: number) => (whole === 0 ? null : (unit * part) / whole);
  const plot = (
    id: string,
    title: string,
    unit: string,
    series: Series[],
    bounds: Plot['bounds'] = null,
  ) => ({
    id,
    title,
    unit,
    bounds,
    span,
    series,
  });
  const delivered = of(({ smsDelivered, smsFailed }) => share(smsDelivered, smsDelivered + smsFailed, 100));
  const gaps = of(({ audioGaps, audioFrames }) => share(audioGaps, audioFrames, 1000));
  return [
    plot('sms', 'Messages', '/min', [
      { label: 'sent', colour: 'first', values: rate('smsSent') },
      { label: 'received', colour: 'second', values: rate('smsReceived') },
    ]),
    plot(
      'delivery',
      'Delivery',
      ' %',
      [{ label: 'delivered', colour: 'first', values: delivered }],
      [0, 100],
    ),
    plot('calls', 'Calls', '/min', [
      { label: 'answered', colour: 'first', values: rate('callsAnswered') },
      { label: 'failed', colour: 'bad', values: rate('callsFailed') },
    ]),
    plot('audio', 'Audio gaps', ' ‰', [{ label: 'gaps per 1,000 frames', colour: 'bad', values: gaps }]),
    plot('pool', 'Pool', '', [
      { label: 'in service', colour: 'third', values: of(({ slotsUp }) => slotsUp) },
      { label: 'held', colour: 'second', values: of(({ held }) => held) },
      { label: 'on sale', colour: 'first', values: of(({ available }) => available) },
    ]),
  ];
}

export function signalPlot(signals: ReadonlyArray<{ at: Date; dbm: number | null }>, span: Span): Plot {
  return {
    id: 'signal',
    title: 'Signal',
    unit: ' dBm',
    bounds: [-113, -51],
    span,
    series: [{ label: 'signal', colour: 'first', values: steps(signals, span)(({ dbm }) => dbm) }],
  };
}

/** The value of each step of the span. */
function steps<T extends { at: Date }>(rows: readonly T[], { since, until, stepMs }: Span) {
  const byStep = new Map(rows.map((row) => [Math.round((row.at.getTime() - since.getTime()) / stepMs), row]));
  const count = Math.ceil((until.getTime() - since.getTime()) / stepMs);
  return (figureOf: (row: T) => number | null): Array<number | null> =>
    Array.from({ length: count }, (_, step) => {
      const row = byStep.get(step);
      const value = row === undefined ? null : figureOf(row);
      return value === null ? null : Math.round(value * 100) / 100;
    });
}

/** "sent 4.2/min now, 0 to 12" for each series. */
function summaryOf({ series, unit }: Plot): string {
  return series
    .map(({ label, values }) => {
      const known = values.filter((value) => value !== null);
      const last = known.at(-1);
      if (last === undefined) return `${label}: no data yet`;
      const [least, most] = [Math.min(...known), Math.max(...known)].map(shown);
      return `${label} ${shown(last)}${unit}${least === most ? '' : ` (${least} to ${most})`}`;
    })
    .join(', ');
}

const shown = (value: number): string =>
  String(Math.abs(value) < 10 ? Math.round(value * 10) / 10 : Math.round(value));

const WIDTH = 300;
const HEIGHT = 84;
const MARGIN = 3;

export function plotFigure(plot: Plot): Html {
  const summary = summaryOf(plot);
  const { id, series, span, title, unit, bounds } = plot;
  const data = { unit, bounds, title, first: span.since.getTime() / 1000, step: span.stepMs / 1000, series };
  return html`<figure class="plot" id="plot-${id}" data-plot="${JSON.stringify(data)}">
<figcaption><h3>${title}</h3><ul class="keys">${series.map(({ colour, label }) => html`<li class="${colour}">${label}</li>`)}</ul></figcaption>
<div class="canvas">${drawing(plot, `${title}: ${summary}`)}</div><p>${summary}</p></figure>`;
}

/** Where the values lie. */
function extentOf({ bounds, series }: Plot): readonly [number, number] {
  if (bounds !== null) return bounds;
  const known = series.flatMap(({ values }) => values.filter((value) => value !== null));
  return [0, Math.max(1, ...known)];
}

function drawing(plot: Plot, label: string): Html {
  const extent = extentOf(plot);
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}"><path class="axis" d="M0 ${HEIGHT - MARGIN}H${WIDTH}"/>${plot.series.map((series) => line(series, extent))}</svg>`;
}

/** A gap where nothing is known. */
function line({ colour, values }: Series, [least, most]: readonly [number, number]): Html {
  const x = (index: number): string => ((index / Math.max(1, values.length - 1)) * WIDTH).toFixed(1);
  const y = (value: number): string =>
    (HEIGHT - MARGIN - ((value - least) / (most - least)) * (HEIGHT - 2 * MARGIN)).toFixed(1);
  const path = values
    .map((value, index) => {
      if (value === null) return '';
      const isFirst = (values[index - 1] ?? null) === null;
      // One alone is a dot.
      const isAlone = isFirst && (values[index + 1] ?? null) === null;
      return `${isFirst ? 'M' : 'L'}${x(index)} ${y(value)}${isAlone ? 'h.1' : ''}`;
    })
    .join('');
  return html`<path class="line ${colour}" d="${path}"/>`;
}

/** Which span is shown, and the others to choose from. */
export const rangeChoice = (path: string, chosen: Range): Html =>
  html`<nav class="ranges" aria-label="Span of the plots">${RANGE_NAMES.map(
    (name) =>
      html`<a href="${path}range=${name}#plots"${name === chosen ? html` aria-current="true"` : ''}>${name}</a>`,
  )}</nav>`;
