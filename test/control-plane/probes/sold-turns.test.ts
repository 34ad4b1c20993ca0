// How many probes of sold numbers are sent when, and by which spare SIM.
import t from 'tap';
import type { SendingLimits, SendingUsage } from '#control-plane/domain/sending-limits.ts';
import { senderFor, soldNow, withText } from '#control-plane/probes/sold-turns.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW = new Date('2026-11-22T12:00:00Z');
const ago = (ms: number): Date => new Date(NOW.getTime() - ms);
const UNLIMITED: SendingLimits = {
  smsPerMinute: 0,
  smsPerDay: 0,
  smsRecipientsPerDay: 0,
  smsRepeatedPerDay: 0,
  smsUnansweredPerDay: 0,
  smsPerAnswer: 0,
};

t.test('probes are spread over the day', async (t) => {
  const count = (sold: number, last: Date | undefined): number =>
    soldNow({ sold, periodMs: DAY_MS, last, now: NOW });
  t.equal(count(0, undefined), 0);
  t.equal(count(5, undefined), 1, 'the first');
  t.equal(count(24, ago(HOUR_MS - 1)), 0, 'one of 24 each hour');
  t.equal(count(24, ago(HOUR_MS)), 1);
  t.equal(count(24, ago(10 * DAY_MS)), 1, 'no burst after a pause');
  t.equal(count(5_760, ago(60_000)), 4, 'four each minute');
  t.equal(count(5_760, ago(10 * DAY_MS)), 16);
  t.equal(count(1_000_000, ago(DAY_MS)), 16, 'a round has a limit');
});

t.test('a day of a minute each: every number once, never two rounds in a burst', async (t) => {
  for (const sold of [1, 7, 100, 1_440, 3_000]) {
    let [sent, most, last] = [0, 0, undefined as Date | undefined];
    for (let minute = 0; minute < 1_440; minute += 1) {
      const now = new Date(NOW.getTime() + minute * 60_000);
      const count = soldNow({ sold, periodMs: DAY_MS, last, now });
      if (count > 0) last = now;
      sent += count;
      most = Math.max(most, count);
    }
    t.ok(sent <= sold && sent > 0.6 * sold, `${sent} of ${sold}`);
    t.ok(most <= Math.max(1, Math.ceil((4 * sold) / 1_440)), String(most));
  }
});

const spare = (node: string, slot: string, carrier: string) => ({
  number: `+1206555${node}${slot}`,
  iccid: `${node}${slot}`,
  node,
  slot,
  carrier,
});
const RECIPIENT = { ...spare('a', '1', 'T-Mobile'), failedWith: [] as string[] };

t.test(
  'the sender: another one after a loss, then by cost, then from another node, then in turns',
  async (t) => {
    const [own, far, abroad] = [
      spare('a', '2', 'T-Mobile'),
      spare('b', '1', 'T-Mobile'),
      spare('b', '2', 'AT&T'),
    ];
    const spares = [abroad, own, far];
    const choose = (
      failedWith: string[],
      { from = spares, usage = new Map<string, SendingUsage>(), limits = UNLIMITED } = {},
    ) => senderFor({ ...RECIPIENT, failedWith }, from, { usage, limits })?.iccid;
    t.equal(choose([]), 'b1', 'of the same carrier, at another node');
    t.equal(choose([], { from: [abroad, own] }), 'a2', 'the same carrier first');
    t.equal(choose(['b']), 'a2', 'a node is one partner');
    t.equal(choose(['a/2'], { from: [own, abroad] }), 'b2');
    t.equal(choose(['a/2'], { from: [own] }), 'a2', 'there is no other one');
    t.equal(choose([], { from: [] }), undefined);
    const usage = new Map([['b1', withText(withText(undefined))]]);
    const twin = spare('c', '1', 'T-Mobile');
    t.equal(choose([], { from: [far, twin], usage }), 'c1', 'that has sent less');
    const limits = { ...UNLIMITED, smsRecipientsPerDay: 2 };
    t.equal(choose([], { usage, limits }), 'a2', 'within the limits of a number');
    t.equal(choose(['a/2'], { from: [own, far], usage, limits }), undefined, 'then it waits');
  },
);
