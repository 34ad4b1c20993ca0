// Limits of sending: sliding windows for each SIM and each recipient, counted again after a restart.
import t from 'tap';
import type { SendLimitSettings } from '#node-daemon/config/node-config.ts';
import { CommandMap } from '#node-daemon/journal/command-map.ts';
import { SendLimits } from '#node-daemon/modem/sms/send-limits.ts';
import { CommandRefusal } from '#shared/link/command-refusal.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const NONE = new CommandMap();

function remembered(...commands: { iccid: string; to: string; time: number }[]): CommandMap {
  const map = new CommandMap();
  commands.forEach(({ iccid, to, time }, index) => {
    const rest = { segments: 1, boot: undefined, references: [], reported: [], outcome: undefined };
    map.set(`c${index}`, { iccid, to, at: new Date(time).toISOString(), ...rest });
  });
  return map;
}

/** How long it is to be waited; 0 when it was let in. */
function waitOf(limits: SendLimits, iccid: string, to: string, now: number): number | undefined {
  try {
    limits.admit(iccid, to, now);
    return 0;
  } catch (error) {
    if (!(error instanceof CommandRefusal) || error.code !== 'rate_limited') throw error;
    return error.retryAfterMs;
  }
}

const settings = (change: Partial<SendLimitSettings>): SendLimitSettings => ({
  perSim: {},
  perDestination: {},
  ...change,
});

t.test('the limit holds in any minute, and gives the time until the next send', async (t) => {
  const limits = new SendLimits(settings({ perSim: { perMinute: 3 } }), NONE, NOW);
  for (const second of [0, 10, 20]) t.equal(waitOf(limits, 'a', '+1', NOW + second * 1_000), 0);
  t.equal(waitOf(limits, 'a', '+2', NOW + 30_000), 30_000, 'the first is a minute old then');
  t.equal(waitOf(limits, 'b', '+1', NOW + 30_000), 0, 'another SIM');
  t.equal(waitOf(limits, 'a', '+1', NOW + 59_999), 1);
  t.equal(waitOf(limits, 'a', '+1', NOW + 60_000), 0);
  t.equal(waitOf(limits, 'a', '+1', NOW + 60_000), 10_000, 'it slides');
});

t.test('the strictest window counts', async (t) => {
  const limits = new SendLimits(settings({ perSim: { perMinute: 2, perHour: 3, perDay: 4 } }), NONE, NOW);
  t.equal(waitOf(limits, 'a', '+1', NOW), 0);
  t.equal(waitOf(limits, 'a', '+1', NOW), 0);
  t.equal(waitOf(limits, 'a', '+1', NOW), MINUTE_MS);
  t.equal(waitOf(limits, 'a', '+1', NOW + MINUTE_MS), 0);
  t.equal(waitOf(limits, 'a', '+1', NOW + MINUTE_MS), 59 * MINUTE_MS);
  t.equal(waitOf(limits, 'a', '+1', NOW + 60 * MINUTE_MS), 0);
  t.equal(waitOf(limits, 'a', '+1', NOW + 2 * 60 * MINUTE_MS), DAY_MS - 2 * 60 * MINUTE_MS);
});

t.test('the limit of a recipient counts all SIMs together', async (t) => {
  const limits = new SendLimits(settings({ perDestination: { perMinute: 2 } }), NONE, NOW);
  t.equal(waitOf(limits, 'a', '+1', NOW), 0);
  t.equal(waitOf(limits, 'b', '+1', NOW), 0);
  t.equal(waitOf(limits, 'c', '+1', NOW), MINUTE_MS);
  t.equal(waitOf(limits, 'c', '+2', NOW), 0);
});

t.test('a refused send does not count, and an admission without a try is taken back', async (t) => {
  const both = settings({ perSim: { perMinute: 2 }, perDestination: { perMinute: 1 } });
  const limits = new SendLimits(both, NONE, NOW);
  const takeBack = limits.admit('a', '+1', NOW);
  for (let times = 0; times < 5; times += 1) t.equal(waitOf(limits, 'a', '+1', NOW), MINUTE_MS);
  t.equal(waitOf(limits, 'a', '+2', NOW), 0, 'the SIM has one left');
  takeBack();
  t.equal(waitOf(limits, 'a', '+1', NOW), 0);
});

t.test('no limit if it is missing or 0', async (t) => {
  for (const rate of [{}, { perMinute: 0, perDay: 0 }]) {
    const limits = new SendLimits({ perSim: rate, perDestination: rate }, NONE, NOW);
    for (let times = 0; times < 10_000; times += 1) limits.admit('a', '+1', NOW);
    t.pass();
  }
});

t.test('a restart counts what the journal remembers', async (t) => {
  const commands = remembered(
    { iccid: 'a', to: '+1', time: NOW - 90_000 },
    { iccid: 'a', to: '+1', time: NOW - 50_000 },
    { iccid: 'b', to: '+1', time: NOW - 40_000 },
  );
  const limits = new SendLimits(
    settings({ perSim: { perMinute: 2 }, perDestination: { perMinute: 3 } }),
    commands,
    NOW,
  );
  t.equal(waitOf(limits, 'a', '+1', NOW), 0);
  t.equal(waitOf(limits, 'a', '+2', NOW), 10_000);
  t.equal(waitOf(limits, 'b', '+1', NOW), 10_000);
});

t.test('a clock that was ahead, or is put back, closes no window for longer than it is', async (t) => {
  const commands = remembered({ iccid: 'a', to: '+1', time: NOW + 365 * DAY_MS });
  const limits = new SendLimits(settings({ perSim: { perMinute: 1 } }), commands, NOW);
  t.equal(waitOf(limits, 'a', '+1', NOW), MINUTE_MS);
  t.equal(waitOf(limits, 'a', '+1', NOW + MINUTE_MS), 0);
  t.equal(waitOf(limits, 'a', '+1', NOW - DAY_MS), MINUTE_MS, 'put back by a day');
  t.equal(waitOf(limits, 'a', '+1', NOW - DAY_MS + MINUTE_MS), 0);
});

t.test('with 100 000 commands remembered a message is let in at once', async (t) => {
  const commands = remembered(
    ...Array.from({ length: 100_000 }, (_, index) => ({
      iccid: `sim${index % 64}`,
      to: `+${index % 5_000}`,
      time: NOW - DAY_MS + index * 800,
    })),
  );
  const day = { perMinute: 100, perDay: 100_000 };
  const limits = new SendLimits({ perSim: day, perDestination: day }, commands, NOW);
  const startedAt = performance.now();
  for (let times = 0; times < 1_000; times += 1) waitOf(limits, `sim${times % 64}`, `+${times % 5_000}`, NOW);
  const eachMs = (performance.now() - startedAt) / 1_000;
  t.ok(eachMs < 1, `${eachMs.toFixed(4)} ms`);
});
