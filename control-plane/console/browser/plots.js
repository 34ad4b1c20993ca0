// Makes plots that can be read off of those that are drawn: with the pointer, or with the arrow keys.
const HEIGHT = 128;
const plots = new Map();

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const COLOURS = { first: 'good', second: 'busy', third: 'off', bad: 'bad' };

const shown = (value) => (Math.abs(value) < 10 ? Math.round(value * 10) / 10 : Math.round(value));

function readOff(plot, { unit, series }) {
  const { idx } = plot.cursor;
  if (idx === null || idx === undefined) return undefined;
  const at = new Date(plot.data[0][idx] * 1000);
  const time = at.toLocaleString(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit', hour12: false });
  const values = series.map(({ label, values }) => {
    const value = values[idx];
    return `${label} ${value === null || value === undefined ? 'unknown' : shown(value) + unit}`;
  });
  return `${time}: ${values.join(', ')}`;
}

/** Hours within two days, then days; in the reader's time. */
const timeLabel = (spanSeconds) => (_, splits) =>
  splits.map((at) =>
    new Date(at * 1000).toLocaleString(undefined, spanSeconds <= 172800
      ? { hour: '2-digit', minute: '2-digit', hour12: false }
      : { weekday: 'short', day: 'numeric' }),
  );

function draw(figure) {
  const data = JSON.parse(figure.dataset.plot);
  const canvas = figure.querySelector('.canvas');
  const caption = figure.querySelector('p');
  const summary = caption.textContent;
  const count = data.series[0].values.length;
  const times = Array.from({ length: count }, (_, step) => data.first + step * data.step);
  const axis = { stroke: colour('quiet'), grid: { stroke: colour('line'), width: 1 }, ticks: { show: false }, font: '11px system-ui, sans-serif' };
  canvas.replaceChildren();
  canvas.tabIndex = 0;
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', `${data.title}: ${summary}`);
  const plot = new uPlot(
    {
      width: canvas.clientWidth,
      height: HEIGHT,
      padding: [8, 18, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { setScale: false, x: false, y: false }, sync: { key: 'plots' }, points: { size: 6 } },
      scales: { y: { range: (_, __, most) => data.bounds ?? [0, Math.max(1, most)] } },
      axes: [{ ...axis, size: 22, space: 64, values: timeLabel(count * data.step) }, { ...axis, size: 38, space: 28 }],
      series: [
        {},
        ...data.series.map(({ label, colour: name }) => ({
          label,
          stroke: colour(COLOURS[name]),
          width: 1.75,
          points: { show: count < 20, size: 4 },
        })),
      ],
      hooks: { setCursor: [(self) => { caption.textContent = readOff(self, data) ?? summary; }] },
    },
    [times, ...data.series.map(({ values }) => values)],
    canvas,
  );
  plots.get(figure.id)?.destroy();
  plots.set(figure.id, plot);
  canvas.onkeydown = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const idx = Math.min(count - 1, Math.max(0, (plot.cursor.idx ?? count) + step));
    plot.setCursor({ left: plot.valToPos(times[idx], 'x'), top: 0 });
    caption.setAttribute('aria-live', 'polite');
  };
}

const drawAll = () => document.querySelectorAll('figure[data-plot]').forEach(draw);

drawAll();
document.addEventListener('replaced', ({ detail }) => {
  if (detail.matches('figure[data-plot]')) draw(detail);
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
let resized;
addEventListener('resize', () => {
  clearTimeout(resized);
  resized = setTimeout(drawAll, 150);
});
