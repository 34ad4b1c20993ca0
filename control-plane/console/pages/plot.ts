// A plot on a page: drawn here, so that it is there without a script; the script makes one of it that can be read off.
import { type Html, html } from '#shared/html.ts';
import { type Plot, type Series, summaryOf } from './plots.ts';
import { RANGE_NAMES, type Range } from './span.ts';

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
