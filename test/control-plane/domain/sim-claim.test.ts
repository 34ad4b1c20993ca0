// Which node holds a SIM after a report, case by case.
import t from 'tap';
import { type ClaimInput, decideClaims, type Tenure } from '#control-plane/domain/sim-claim.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';

const NOW = new Date('2026-11-21T08:00:00.000Z');
const before = (ms: number): Date => new Date(NOW.getTime() - ms);
const MINUTE_MS = 60_000;
const iccidOf = (index: number): string => String(slotAt(index).iccid);

const held = (index: number, change: Partial<Tenure> = {}): Tenure => ({
  iccid: iccidOf(index),
  nodeId: 'holder',
  slot: `m${index}`,
  since: before(24 * 3_600_000),
  sighting: 'present',
  sightingSince: before(3_600_000),
  takenFrom: null,
  isLinked: true,
  awaySince: before(3_600_000),
  isKnown: true,
  isUnproven: false,
  ...change,
});

const decide = (change: Partial<ClaimInput>) =>
  decideClaims({
    nodeId: 'claimant',
    slots: [slotAt(1)],
    tenures: [],
    contested: new Map(),
    isSuspended: false,
    heldBefore: new Set(),
    lastHolders: new Map(),
    movesLeft: 8,
    expected: new Map(),
    newSims: 0,
    newSimsMax: 96,
    waitMs: MINUTE_MS,
    now: NOW,
    ...change,
  });

const outcome = (change: Partial<ClaimInput>): string => {
  const { taken, refused } = decide(change);
  return refused[0]?.cause ?? (taken.length === 1 ? `taken from ${taken[0]?.from ?? 'no node'}` : 'nothing');
};

/** Taken from the claimant, which had not released it, that long ago. */
const takenBy = (agoMs: number): Tenure =>
  held(1, { takenFrom: 'claimant', since: before(agoMs), sightingSince: before(agoMs) });

const claimed = (agoMs: number) => new Map([[iccidOf(1), before(agoMs)]]);

t.test('a claim', (t) => {
  const away = { isLinked: false } as const;
  const cases: ReadonlyArray<[what: string, input: Partial<ClaimInput>, expected: string]> = [
    ['of a SIM without a holder', {}, 'taken from no node'],
    ['of one that its holder reports', { tenures: [held(1)] }, 'contested'],
    ['of one whose modem is lost', { tenures: [held(1, { sighting: 'lost' })] }, 'taken from holder'],
    [
      'of one whose holder does not know its SIM yet',
      { tenures: [held(1, { sighting: 'unseen', sightingSince: before(59_000) })] },
      'waiting',
    ],
    [
      'of one that its holder has not seen for long',
      { tenures: [held(1, { sighting: 'unseen', sightingSince: before(61_000) })] },
      'taken from holder',
    ],
    [
      'of one whose holder has just gone',
      { tenures: [held(1, { ...away, awaySince: before(59_000) })] },
      'waiting',
    ],
    [
      'of one whose holder is away',
      { tenures: [held(1, { ...away, awaySince: before(61_000) })] },
      'taken from holder',
    ],
    [
      'made before the modem was lost',
      { tenures: [held(1, { sighting: 'lost' })], contested: claimed(1_000) },
      'barred',
    ],
    [
      'made before the holder went away',
      { tenures: [held(1, { ...away })], contested: claimed(2 * 3_600_000) },
      'barred',
    ],
    ['made a moment before the holder let go', { contested: claimed(MINUTE_MS) }, 'taken from no node'],
    ['made long before the holder let go', { contested: claimed(3 * MINUTE_MS) }, 'barred'],
    ['by a node that is suspended', { isSuspended: true }, 'suspended'],
    [
      'by the node that never let go',
      { tenures: [takenBy(MINUTE_MS)], isSuspended: true },
      'taken from no node',
    ],
    [
      'by the node that never let go, from one that has reported it for long',
      { tenures: [takenBy(3 * MINUTE_MS)] },
      'contested',
    ],
    [
      'by the node that never let go, from one that reported it for long and is away',
      { tenures: [{ ...takenBy(3_600_000), ...away, awaySince: before(1_000) }] },
      'waiting',
    ],
    [
      'by the node that never let go, from one that was there for a moment',
      { tenures: [{ ...takenBy(3_600_000), ...away, awaySince: before(3_540_000) }] },
      'taken from no node',
    ],
    [
      'by the node that never let go, from one that does not see it any more',
      { tenures: [{ ...takenBy(3_600_000), sighting: 'unseen', sightingSince: before(1_000) }] },
      'taken from no node',
    ],
    [
      'by the node that never let go, too late',
      { tenures: [held(1, { takenFrom: 'claimant', since: before(25 * 3_600_000) })] },
      'contested',
    ],
    [
      'of one that was imported for another node',
      { expected: new Map([[iccidOf(1), 'another']]) },
      'expected_elsewhere',
    ],
    [
      'of one that was imported for this node',
      { expected: new Map([[iccidOf(1), 'claimant']]) },
      'taken from no node',
    ],
    [
      'from a slot that lost its modem',
      { slots: [slotAt(1, { state: 'lost' })], tenures: [held(1, { sighting: 'lost' })] },
      'nothing',
    ],
  ];
  for (const [what, input, expected] of cases) t.equal(outcome(input), expected, what);
  t.end();
});

t.test('one contested claim too many counts as guessing, and no new SIM is accepted', (t) => {
  const slots = [1, 2, 3, 4, 5].map((index) => slotAt(index));
  const some = decide({ slots, tenures: [1, 2, 3].map((index) => held(index)) });
  t.match(some, { isSuspended: false, taken: [{ iccid: iccidOf(4) }, { iccid: iccidOf(5) }] });
  const many = decide({ slots, tenures: [1, 2, 3, 4].map((index) => held(index)) });
  t.match(many, { isSuspended: true, taken: [], held: [] });
  t.equal(many.refused.length, 5);
  t.end();
});

t.test('many unknown SIMs are guesses; those of holders without proof are none', (t) => {
  const slots = [1, 2, 3, 4, 5].map((index) => slotAt(index));
  t.match(decide({ slots, newSims: 96 }), { isSuspended: false, refused: [] });
  const guesses = decide({ slots, newSims: 97 });
  t.match(guesses, { isSuspended: true, taken: [], held: [] });
  const tenures = [1, 2, 3, 4].map((index) => held(index, { isUnproven: true }));
  const late = decide({ slots, tenures });
  t.match(late, { isSuspended: false, taken: [{ iccid: iccidOf(5) }] });
  t.same(
    late.refused.map(({ cause }) => cause),
    ['contested', 'contested', 'contested', 'contested'],
  );
  t.end();
});

t.test('more moved SIMs than an operator moves by hand need an approval', (t) => {
  const indices = [1, 2, 3, 4, 5];
  const slots = indices.map((index) => slotAt(index));
  const tenures = [1, 2].map((index) => held(index, { sighting: 'lost' }));
  const lastHolders = new Map([3, 4].map((index) => [iccidOf(index), 'holder']));
  const some = decide({ slots, tenures, lastHolders, movesLeft: 4 });
  t.match(some, { isSuspended: false, refused: [] });
  t.same(
    some.taken.map(({ movedFrom }) => movedFrom),
    ['holder', 'holder', 'holder', 'holder', null],
  );
  t.match(decide({ slots, tenures, lastHolders, movesLeft: 3 }), { isSuspended: true, taken: [] });
  const heldBefore = new Set([iccidOf(1)]);
  t.match(decide({ slots, tenures, lastHolders, heldBefore, movesLeft: 3 }), { isSuspended: false });
  const unknown = tenures.map((tenure) => ({ ...tenure, isKnown: false }));
  t.match(decide({ slots, tenures: unknown, lastHolders, movesLeft: 2 }), { isSuspended: false });
  t.end();
});

t.test('letting go: an empty slot or another SIM in it, and nothing less', (t) => {
  const own = (index: number, change: Partial<Tenure> = {}) => held(index, { nodeId: 'claimant', ...change });
  const after = (...slots: ClaimInput['slots']) => {
    const { released, unseen } = decide({ slots, tenures: [own(1)] });
    return released.length === 1 ? 'released' : unseen.length === 1 ? 'unseen' : 'held';
  };
  const unknown = { iccid: null, number: null } as const;
  t.equal(after(slotAt(1)), 'held');
  t.equal(after(slotAt(1, { state: 'lost' })), 'held');
  t.equal(after(slotAt(1, { slot: 'm9' })), 'held', 'elsewhere in the rack');
  t.equal(after(slotAt(1, { ...unknown, state: 'starting' })), 'unseen');
  t.equal(after(slotAt(1, { ...unknown, state: 'lost', reason: 'absent' })), 'unseen');
  t.equal(after(), 'unseen', 'a daemon that has found no modem yet');
  t.equal(after(slotAt(1, { ...unknown, state: 'sim_absent' })), 'released');
  t.equal(after(slotAt(1, { iccid: iccidOf(7) })), 'released');
  const { released } = decide({ slots: [], tenures: [own(1, { isKnown: false })] });
  t.same(released, [iccidOf(1)], 'nothing is kept of SIMs that were not admitted');
  t.end();
});
