// The series of the plots, made of samples: a value for each step, and a sentence for screen readers. Pure.
import type { Sample, Span } from '../../store/operations/samples.ts';

export interface Series {
  label: string;
  /** Names a colour of the style. */
  colour: 'first' | 'second' | 'third' | 'bad';
  /** One a step; null where nothing is known. */
  values: Array<number | null>;
}

export interface Plot {
  id: string;
  title: string;
  /** Behind a value. */
  unit: string;
  /** Of the values: these are always within the plot. */
  bounds: readonly [number, number] | null;
  span: Span;
  series: Series[];
}

/** Message and call rates, delivery success, audio and pool. */
export function fleetPlots(samples: readonly Sample[], span: Span): Plot[] {
  const of = steps(samples, span);
  const rate = (key: 'smsSent' | 'smsReceived' | 'callsAnswered' | 'callsFailed') =>
    of((sample) => sample[key] / sample.minutes);
  const share = (part: number, whole: number): number | null => (whole === 0 ? null : (100 * part) / whole);
  return [
    {
      id: 'sms',
      title: 'Messages',
      unit: '/min',
      bounds: null,
      span,
      series: [
        { label: 'sent', colour: 'first', values: rate('smsSent') },
        { label: 'received', colour: 'second', values: rate('smsReceived') },
      ],
    },
    {
      id: 'delivery',
      title: 'Delivery',
      unit: ' %',
      bounds: [0, 100],
      span,
      series: [
        {
          label: 'delivered',
          colour: 'first',
          values: of((sample) => share(sample.smsDelivered, sample.smsDelivered + sample.smsFailed)),
        },
      ],
    },
    {
      id: 'calls',
      title: 'Calls',
      unit: '/min',
      bounds: null,
      span,
      series: [
        { label: 'answered', colour: 'first', values: rate('callsAnswered') },
        { label: 'failed', colour: 'bad', values: rate('callsFailed') },
      ],
    },
    {
      id: 'audio',
      title: 'Audio gaps',
      unit: ' ‰',
      bounds: null,
      span,
      series: [
        {
          label: 'gaps a thousand frames',
          colour: 'bad',
          values: of((sample) => {
            const percent = share(sample.audioGaps, sample.audioFrames);
            return percent === null ? null : percent * 10;
          }),
        },
      ],
    },
    {
      id: 'pool',
      title: 'Pool',
      unit: '',
      bounds: null,
      span,
      series: [
        { label: 'in service', colour: 'third', values: of(({ slotsUp }) => slotsUp) },
        { label: 'held', colour: 'second', values: of(({ held }) => held) },
        { label: 'on sale', colour: 'first', values: of(({ available }) => available) },
      ],
    },
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
export function summaryOf({ series, unit }: Plot): string {
  return series
    .map(({ label, values }) => {
      const known = values.filter((value) => value !== null);
      const last = known.at(-1);
      if (last === undefined) return `${label}: nothing yet`;
      const [least, most] = [Math.min(...known), Math.max(...known)].map(shown);
      return `${label} ${shown(last)}${unit}${least === most ? '' : ` (${least} to ${most})`}`;
    })
    .join(', ');
}

const shown = (value: number): string =>
  String(Math.abs(value) < 10 ? Math.round(value * 10) / 10 : Math.round(value));
