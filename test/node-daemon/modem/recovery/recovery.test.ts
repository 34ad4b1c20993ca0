// The recovery ladder: what is done, in which order, how often, and how long it takes to be back.
import t from 'tap';
import {
  HEALTHY_MS,
  NO_TROUBLE,
  nextRecovery,
  type RecoveryLimits,
  type RecoveryState,
  type RecoveryStep,
  restartRequested,
  starting,
} from '#node-daemon/modem/recovery/recovery.ts';
import type { Trouble } from '#node-daemon/modem/recovery/trouble.ts';

const LIMITS: RecoveryLimits = { radio: 6, restart: 4, usb_reset: 3, power_cycle: 2 };
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A modem in trouble again and again, `everyMs`, with what was done each time. */
function play(
  trouble: Trouble,
  times: number,
  {
    limits = LIMITS,
    everyMs = 5_000,
    servedMs = 0,
    state = NO_TROUBLE,
  }: { limits?: RecoveryLimits; everyMs?: number; servedMs?: number; state?: RecoveryState } = {},
) {
  const steps: RecoveryStep[] = [];
  const delays: number[] = [];
  let now = 1_000_000_000_000;
  for (let index = 0; index < times; index += 1) {
    const recovery = nextRecovery(state, limits, { trouble, now, servedMs, random: 0.5 });
    steps.push(recovery.step);
    delays.push(recovery.delayMs);
    state = recovery.state;
    now += recovery.delayMs + everyMs;
  }
  return { steps, delays, state, now };
}

t.test('each trouble has its steps, gentlest first', async (t) => {
  t.same(play('silent', 6).steps, ['reopen', 'radio', 'restart', 'usb_reset', 'power_cycle', 'give_up']);
  t.same(play('faulty', 8).steps, [
    'reopen',
    'reopen',
    'reinitialise',
    'radio',
    'restart',
    'usb_reset',
    'power_cycle',
    'give_up',
  ]);
  t.same(play('no_service', 5).steps, ['radio', 'restart', 'usb_reset', 'power_cycle', 'give_up']);
  t.same(play('port_gone', 8).steps, [
    'reopen',
    'reopen',
    'reopen',
    'reopen',
    'usb_reset',
    'power_cycle',
    'give_up',
    'reopen',
  ]);
  for (const trouble of ['restarted', 'sim_changed'] as const) {
    t.same(new Set(play(trouble, 50).steps), new Set(['reopen']), `${trouble} needs no more`);
  }
});

t.test('a restart that an operator wants is not limited, and counts for those that come', async (t) => {
  let state = NO_TROUBLE;
  for (let now = 1_000_000_000_000, times = 0; times < LIMITS.restart; times += 1, now += 1_000)
    state = restartRequested(state, now);
  const steps = nextRecovery({ ...state, rung: 2 }, LIMITS, {
    trouble: 'silent',
    now: 1_000_000_100_000,
    servedMs: 0,
    random: 0.5,
  });
  t.equal(steps.step, 'usb_reset', 'no fifth one within the hour');
});

t.test('steps that are switched off are left out', async (t) => {
  const limits = { ...LIMITS, usb_reset: 0, power_cycle: 0 };
  t.same(play('silent', 4, { limits }).steps, ['reopen', 'radio', 'restart', 'give_up']);
  t.same(play('port_gone', 5, { limits }).steps.at(-1), 'give_up');
});

t.test('the recovery continues with the next step although the trouble changes', async (t) => {
  const { state, now } = play('silent', 3);
  const next = nextRecovery(state, LIMITS, { trouble: 'no_service', now, servedMs: 0, random: 0.5 });
  t.equal(next.step, 'usb_reset', 'a restart made it answer, and no more');
});

t.test('a modem that was well for a minute begins at the gentlest step', async (t) => {
  const { state, now } = play('silent', 3);
  const seen = { trouble: 'silent', now, random: 0.5 } as const;
  t.equal(nextRecovery(state, LIMITS, { ...seen, servedMs: HEALTHY_MS - 1 }).step, 'usb_reset');
  t.equal(nextRecovery(state, LIMITS, { ...seen, servedMs: HEALTHY_MS }).step, 'reopen');
});

t.test(
  'a modem that the strongest step helped, if not for long, is not given up but tried from the start',
  async (t) => {
    const { state, now } = play('silent', 5);
    const seen = { trouble: 'silent', now, random: 0.5 } as const;
    t.equal(nextRecovery(state, LIMITS, { ...seen, servedMs: 0 }).step, 'give_up');
    const again = nextRecovery(state, LIMITS, { ...seen, servedMs: 20_000 });
    t.equal(again.step, 'reopen');
    const next = { ...seen, now: now + 200_000, servedMs: 0 };
    t.equal(nextRecovery(again.state, LIMITS, next).step, 'radio');
  },
);

t.test('a modem that starts is given time: its port is opened again, and nothing stronger', async (t) => {
  const { state, now } = play('silent', 3);
  let patient = starting(state, now, 15_000);
  for (const afterMs of [0, 5_000, 14_999]) {
    const seen = { trouble: 'silent', now: now + afterMs, servedMs: 0, random: 0.5 } as const;
    const next = nextRecovery(patient, LIMITS, seen);
    t.equal(next.step, 'reopen');
    patient = next.state;
  }
  const late = { trouble: 'silent', now: now + 15_000, servedMs: 0, random: 0.5 } as const;
  t.equal(nextRecovery(patient, LIMITS, late).step, 'usb_reset', 'the next rung of the ladder');
});

t.test('a modem that was given up is opened now and then, and tried again after ten minutes', async (t) => {
  const { state, now } = play('silent', 6);
  t.ok(state.gaveUp);
  const { steps, delays } = play('silent', 9, { state });
  t.same(new Set(steps), new Set(['reopen']));
  t.same(new Set(delays), new Set([MINUTE_MS]));
  const later = { trouble: 'silent', now: now + 11 * MINUTE_MS, servedMs: 0, random: 0.5 } as const;
  t.equal(nextRecovery({ ...state, reopens: 1 }, LIMITS, later).step, 'radio');
});

t.test('without a network the modem is served all the same, also when it was given up', async (t) => {
  const { state, delays } = play('no_service', 5, { everyMs: 90_000 });
  t.ok(state.gaveUp);
  t.same(delays, [0, 0, 0, 0, 0]);
  const { steps, delays: waits } = play('no_service', 3, { state });
  t.same(new Set(steps), new Set(['reopen']));
  t.ok(waits.every((waitMs) => waitMs <= 10_000));
});

t.test('a device that is plugged in again is no longer given up', async (t) => {
  const { state, now } = play('silent', 6);
  const fresh = starting(state, now, 1_000);
  t.notOk(fresh.gaveUp);
  const seen = { trouble: 'silent', now: now + 1_000, servedMs: 0, random: 0.5 } as const;
  t.equal(nextRecovery(fresh, LIMITS, seen).step, 'reopen');
});

t.test('in any hour no step is taken more often than its limit', async (t) => {
  for (const trouble of ['silent', 'faulty', 'no_service', 'port_gone'] as const) {
    let state = NO_TROUBLE;
    const taken: { step: RecoveryStep; at: number }[] = [];
    for (let now = 0; now < 24 * HOUR_MS; now += 7_000) {
      // Well for long enough, each time: nothing but the limits holds the steps back.
      const recovery = nextRecovery(state, LIMITS, { trouble, now, servedMs: 0, random: now % 1 });
      state = recovery.state;
      taken.push({ step: recovery.step, at: now });
      now += recovery.delayMs;
    }
    for (const [step, limit] of Object.entries(LIMITS)) {
      const times = taken.filter((each) => each.step === step).map(({ at }) => at);
      const worst = Math.max(
        0,
        ...times.map((from) => times.filter((at) => at >= from && at < from + HOUR_MS).length),
      );
      t.ok(worst <= limit, `${trouble}: ${step} at most ${worst} times an hour, allowed are ${limit}`);
    }
    t.ok(taken.some(({ step }) => step === 'give_up'));
  }
});

t.test('equal steps are further and further apart', async (t) => {
  const limits = { ...LIMITS, restart: 0, usb_reset: 0, power_cycle: 0 };
  let state = NO_TROUBLE;
  const radios: number[] = [];
  for (let now = 0; now < 40 * MINUTE_MS; now += 1_000) {
    // Radio off and on cures it for more than a minute, again and again.
    const seen = { trouble: 'no_service', now, servedMs: HEALTHY_MS, random: 0.5 } as const;
    const recovery = nextRecovery(state, limits, seen);
    state = { ...recovery.state, patientUntil: 0 };
    if (recovery.step === 'radio') radios.push(now);
  }
  const gaps = radios.slice(1).map((at, index) => at - (radios[index] ?? 0));
  t.same(gaps, [30_000, 60_000, 120_000, 240_000, 480_000]);
});

t.test('opening again is quick at first and never in a tight loop', async (t) => {
  const { delays } = play('restarted', 200, { everyMs: 0 });
  t.ok((delays[0] ?? 0) <= 250);
  t.ok(delays.slice(8).every((delayMs) => delayMs >= 5_000 && delayMs <= 10_000));
});

t.test('a modem that crashes again and again gets no patience for it from the fifth time on', async (t) => {
  const steps: RecoveryStep[] = [];
  let state = NO_TROUBLE;
  for (let now = 1e12; steps.length < 7; now += 12_000) {
    const seen = { trouble: 'port_gone', now, servedMs: 6_000, random: 0.5 } as const;
    const recovery = nextRecovery(starting(state, now - 11_000), LIMITS, seen);
    steps.push(recovery.step);
    state = recovery.state;
  }
  t.same(steps.slice(0, 6), ['reopen', 'reopen', 'reopen', 'reopen', 'usb_reset', 'power_cycle']);
  const well = { trouble: 'port_gone', now: 1e12 + 60_000, servedMs: HEALTHY_MS, random: 0.5 } as const;
  t.equal(nextRecovery(state, LIMITS, well).step, 'reopen', 'it was well');
});

t.test('a clock that is set back stops no ladder', async (t) => {
  const { state, now } = play('silent', 5);
  let patient = starting(state, now);
  const steps = new Set<RecoveryStep>();
  const back = now - 24 * HOUR_MS;
  for (let at = back; at < back + HOUR_MS; ) {
    const seen = { trouble: 'silent', now: at, servedMs: 0, random: 0.5 } as const;
    const recovery = nextRecovery(patient, LIMITS, seen);
    steps.add(recovery.step);
    patient = recovery.state;
    at += recovery.delayMs + 5_000;
  }
  for (const step of ['radio', 'restart', 'usb_reset', 'power_cycle'] as const) t.ok(steps.has(step), step);
});
