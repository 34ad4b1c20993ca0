// The pairs of SIMs for probes, and the verdict on a slot: the guilty end is found, and no pool is emptied.
import t from 'tap';
import { pairsOf } from '#control-plane/probes/turns.ts';
import { mayLeave, type Partners, verdictOf } from '#control-plane/probes/verdict.ts';
import type { Trial } from '#control-plane/store/operations/probe-trials.ts';

const trial = (isDelivered: boolean, partner: string, change: Partial<Trial> = {}): Trial => ({
  kind: 'sms',
  role: 'recipient',
  isDelivered,
  partner,
  ...change,
});

/** Partners of which those in capitals are other nodes. */
const partners = (...names: string[]): Partners => ({
  all: new Set(names),
  nodes: new Set(names.filter((name) => name === name.toUpperCase())),
});
const [ONE, THREE] = [partners('b'), partners('b', 'c', 'd')];

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
  t.same(verdictOf(failed, THREE), { is: 'bad', reason: 'probe: 2 failures: texts to it do not arrive' });
  t.match(verdictOf([trial(false, 'b'), trial(false, 'b')], THREE), { is: 'open' }, 'it may be b');
  t.match(
    verdictOf([trial(false, 'b'), trial(false, 'b')], ONE),
    { is: 'bad' },
    'no other slot could confirm it',
  );
  t.match(verdictOf([trial(false, 'b')], ONE), { is: 'open' });
  t.match(verdictOf([trial(true, 'b'), trial(false, 'c')], THREE), { is: 'open' });
  t.match(verdictOf([], THREE), { is: 'open' });
  const deafTo = [trial(true, 'b', { role: 'sender' }), trial(true, 'c', { role: 'sender' }), ...failed];
  t.match(verdictOf(deafTo, THREE), { is: 'bad' }, 'it sends well, and is deaf');
  const calls = failed.map((each): Trial => ({ ...each, kind: 'call', role: 'sender' }));
  t.match(verdictOf(calls, THREE), { reason: /its calls do not ring/ });
});

t.test('good after two successes in all that was tried', async (t) => {
  const delivered = [trial(true, 'b'), trial(true, 'b')];
  t.match(verdictOf(delivered, THREE), { is: 'good' });
  t.match(verdictOf([trial(true, 'b')], THREE), { is: 'open' });
  const senderOnce = [trial(true, 'b', { role: 'sender' })];
  t.match(verdictOf([...delivered, ...senderOnce], THREE), { is: 'open' });
});

t.test('no other node alone decides', async (t) => {
  const trials = (text: string): Trial[] =>
    text.split(' ').map((word) => trial(word.endsWith('+'), word.slice(0, -1)));
  const is = (text: string, all: Partners) => verdictOf(trials(text), all).is;
  const mixed = partners('b', 'c', 'X');
  t.equal(is('X- X- b+ c+', mixed), 'good', 'it lies all the time');
  t.equal(is('X- b- X- c+', mixed), 'open', 'and one text was lost');
  t.equal(is('b- X- c- X-', mixed), 'bad', 'it is deaf');
  t.equal(is('X+ b- X- c-', mixed), 'open', 'a text that arrived is no lie');
  t.equal(is('X- Y- X- Z-', partners('X', 'Y', 'Z')), 'open');
  t.equal(is('X- Y- Z-', partners('X', 'Y', 'Z')), 'bad');
  t.equal(is('X- Y- X- Y-', partners('X', 'Y')), 'bad', 'each twice, where there are two');
  t.equal(is('X- X-', partners('X')), 'bad', 'no other slot could confirm it');
  t.equal(is('X- X- X-', partners('X', 'Y')), 'open');
});

t.test('half of the slots of a carrier stay', async (t) => {
  const most = (slots: number): number => {
    let out = 0;
    while (mayLeave({ slots, out })) out += 1;
    return out;
  };
  t.same([0, 1, 2, 3, 4, 16].map(most), [0, 0, 1, 1, 2, 8]);
});
