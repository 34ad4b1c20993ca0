// A day of signal in a ring: the values that were reported, at their times, and the gaps.
import t from 'tap';
import { MINUTES, SignalHistory } from '#node-daemon/status-page/signal-history.ts';
import { binned, describedSignal, signalPlot } from '#node-daemon/status-page/signal-plot.ts';
import type { Slot } from '#shared/link/slot.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';

const MINUTE_MS = 60_000;

function setUp() {
  const clock = new ManualClock(Date.parse('2026-11-22T12:00:20Z'));
  const shown: { slots: Slot[] } = { slots: [slotAt(1, { signal_dbm: -70 })] };
  const history = new SignalHistory(clock, () => shown.slots);
  history.start();
  const report = (dbm: number | null): void => {
    shown.slots = [slotAt(1, { signal_dbm: dbm })];
  };
  const last = (count: number) => history.of('m1').slice(-count);
  return { clock, shown, history, report, last };
}

t.test('a sample a minute, newest last; a missing report is unknown', async (t) => {
  const { clock, history, report, last } = setUp();
  t.same(last(1), [null], 'nothing yet');
  clock.advance(MINUTE_MS);
  report(-80);
  clock.advance(MINUTE_MS);
  report(null);
  clock.advance(MINUTE_MS);
  t.same(last(4), [null, -70, -80, null]);
  t.equal(history.of('m1').length, MINUTES);
  t.same(history.of('unknown'), new Array(MINUTES).fill(null));
});

t.test('after a day the oldest is overwritten', async (t) => {
  const { clock, history, report } = setUp();
  clock.advance(MINUTES * MINUTE_MS);
  report(-90);
  clock.advance(MINUTE_MS);
  const day = history.of('m1');
  t.equal(day.filter((each) => each === -70).length, MINUTES - 1);
  t.equal(day.at(-1), -90);
});

t.test(
  'a host that slept knows nothing of that time, one whose clock is set back begins from the start',
  async (t) => {
    const { clock, last, history } = setUp();
    clock.advance(2 * MINUTE_MS);
    clock.set(clock.now() + 5 * MINUTE_MS);
    clock.advance(MINUTE_MS);
    t.same(last(8), [-70, -70, null, null, null, null, null, -70]);
    clock.set(clock.now() - 3 * 60 * MINUTE_MS);
    clock.advance(MINUTE_MS);
    t.equal(history.of('m1').filter((each) => each !== null).length, 1);
    clock.set(clock.now() + 48 * 60 * MINUTE_MS);
    t.same(
      history.of('m1').filter((each) => each !== null),
      [],
      'two days later nothing is of the last day',
    );
  },
);

t.test('slots that are gone are forgotten', async (t) => {
  const { clock, history, shown } = setUp();
  clock.advance(MINUTE_MS);
  shown.slots = [slotAt(2)];
  clock.advance(MINUTE_MS);
  t.same(
    history.of('m1').filter((each) => each !== null),
    [],
  );
  history.stop();
  t.equal(clock.untilNextMs, Number.POSITIVE_INFINITY);
});

t.test('the curve is broken where nothing was reported', async (t) => {
  const samples = [-60, -62, null, null, -80, -80, null, null];
  t.same(binned(samples, 4), [-61, null, -80, null]);
  const { text } = signalPlot(samples, 4);
  t.match(text, / d="M0 10h1M2 29h1"/);
  t.match(text, /aria-label="Signal of the last day: between -80 and -60 dBm"/);
  t.match(signalPlot([-40, -200], 2).text, / d="M0 0 1 62"/, 'values beyond the scale stay inside the plot');
  t.equal(describedSignal([null]), 'No signal reported in the last day');
});
