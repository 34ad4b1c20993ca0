// Who probes whom, and what probes say of a slot: the guilty end is found, and no pool is emptied.
import t from 'tap';
import { pairsOf } from '#control-plane/probes/pairs.ts';
import { mayLeave, verdictOf } from '#control-plane/probes/verdict.ts';
import type { Trial } from '#control-plane/store/probe-trials.ts';

const trial = (isDelivered: boolean, partner: string, change: Partial<Trial> = {}): Trial => ({
  ...{ kind: 'sms', role: 'recipient', isDelivered, partner, ...change },
});

t.test('each sends once and receives once, and has all others as partners in turn', async (t) => {
  t.same(pairsOf([], 0), []);
  t.same(pairsOf(['a'], 7), []);
  for (const count of [2, 3, 4, 9]) {
    const sims = Array.from({ length: count }, (_, index) => `m${index}`);
    const partners = new Map(sims.map((sim) => [sim, new Set<string>()]));
    for (let round = 0; round < count - 1; round += 1) {
      const pairs = pairsOf(sims, round);
      t.same(pairs.map(({ sender }) => sender).sort(), sims);
      t.same(pairs.map(({ recipient }) => recipient).sort(), sims);
      for (const { sender, recipient } of pairs) partners.get(sender)?.add(recipient);
    }
    for (const [sim, met] of partners)
      t.same(
        [...met].sort(),
        sims.filter((other) => other !== sim),
      );
  }
});

t.test('bad after two failures of one kind and role, with two partners where there are two', async (t) => {
  const failed = [trial(false, 'b'), trial(false, 'c')];
  t.same(verdictOf(failed, 3), { is: 'bad', reason: 'probe: 2 failures: texts to it do not arrive' });
  t.match(verdictOf([trial(false, 'b'), trial(false, 'b')], 3), { is: 'open' }, 'it may be b');
  t.match(verdictOf([trial(false, 'b'), trial(false, 'b')], 1), { is: 'bad' }, 'nobody else could tell');
  t.match(verdictOf([trial(false, 'b')], 1), { is: 'open' });
  t.match(verdictOf([trial(true, 'b'), trial(false, 'c')], 3), { is: 'open' });
  t.match(verdictOf([], 3), { is: 'open' });
  const deafTo = [trial(true, 'b', { role: 'sender' }), trial(true, 'c', { role: 'sender' }), ...failed];
  t.match(verdictOf(deafTo, 3), { is: 'bad' }, 'it sends well, and is deaf');
  const calls = failed.map((each): Trial => ({ ...each, kind: 'call', role: 'sender' }));
  t.match(verdictOf(calls, 3), { reason: /its calls do not ring/ });
});

t.test('good after two successes in all that was tried', async (t) => {
  const delivered = [trial(true, 'b'), trial(true, 'b')];
  t.match(verdictOf(delivered, 3), { is: 'good' });
  t.match(verdictOf([trial(true, 'b')], 3), { is: 'open' });
  const senderOnce = [trial(true, 'b', { role: 'sender' })];
  t.match(verdictOf([...delivered, ...senderOnce], 3), { is: 'open' });
});

t.test('half of the slots of a carrier stay', async (t) => {
  const most = (slots: number): number => {
    let out = 0;
    while (mayLeave({ slots, out })) out += 1;
    return out;
  };
  t.same([0, 1, 2, 3, 4, 16].map(most), [0, 0, 1, 1, 2, 8]);
});
