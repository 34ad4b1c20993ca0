// Decides which SIMs a node holds after its report. Pure. A node speaks for a SIM while it holds it. It gets another node's SIM only after
// that node has released it.
import type { Slot } from '#shared/link/slot.ts';

/** An honest node loses a SIM before it appears elsewhere, or seconds later. More contested SIMs than this at once are guesses. */
const CONTESTED_MAX = 3;

/**
 * Unknown SIMs that a node may report in a day: a full rack and some exchanged cards. A node that guesses the ICCIDs of imported cards
 * reports more.
 */
const NEW_SIMS_MAX = 96;

/** The same with `ADMIT_NEW_SIMS`, where nothing is gained by a guess: it bounds the rows. */
const ADMITTED_SIMS_MAX = 1_000;

export const newSimsMax = (admitsNew: boolean): number => (admitsNew ? ADMITTED_SIMS_MAX : NEW_SIMS_MAX);

/**
 * Known SIMs of other nodes that a node without them may get in a day without an operator's approval: some moved modems. More than this is a
 * rack that was moved, which its operator confirms, or a stolen key that takes the SIMs of a host that is away.
 */
export const MOVED_SIMS_MAX = 8;

/** Moved SIMs of a node count for this long. */
export const MOVED_SIMS_MS = 24 * 60 * 60_000;

/** A claim next to a holder that reports the SIM may be honest for this long. After that only an operator's decision makes it count. */
export const CONTESTED_MS = 2 * 60_000;

/** A contested claim is remembered for this long after the node last made it. */
export const CLAIM_KEPT_MS = 24 * 60 * 60_000;

/**
 * A former holder that never released its SIM gets it back within this time. Exception: the new holder has reported it for longer than
 * `CONTESTED_MS`, which means that the card was moved there.
 */
const RECLAIM_MS = 24 * 60 * 60_000;

/**
 * The holder's last report of a SIM. `present`: it is there. `lost`: its modem is gone, so the SIM may be anywhere. `unseen`: no report.
 */
export type Sighting = 'present' | 'lost' | 'unseen';

/** A SIM and the node that holds it. */
export interface Tenure {
  iccid: string;
  nodeId: string;
  slot: string;
  since: Date;
  sighting: Sighting;
  sightingSince: Date;
  /** The previous node, if it had not released the SIM; null once the holder has reported it for `CONTESTED_MS`. */
  takenFrom: string | null;
  /** The holder's link is up. */
  isLinked: boolean;
  /** Since when its link is down, at the latest. */
  awaySince: Date;
  /** Its number is, or was, for sale, so its holder matters. */
  isKnown: boolean;
  /** Its number was imported, and only the holder itself says that it has the SIM. */
  isUnproven: boolean;
}

/**
 * `contested`: the holder reports the SIM. `waiting`: the holder may reconnect in a moment. `expected_elsewhere`: an operator expects the
 * SIM at another node.
 */
export type RefusalCause = 'contested' | 'waiting' | 'barred' | 'suspended' | 'expected_elsewhere';

export type SimSlot = Slot & { iccid: string };

export interface ClaimInput {
  nodeId: string;
  slots: readonly Slot[];
  /** Tenures of this node, and of the SIMs that it reports. */
  tenures: readonly Tenure[];
  /** Since when this node's claim has been contested, by SIM. */
  contested: ReadonlyMap<string, Date>;
  /** Reported SIMs that the node once held. They are no guesses, whichever node holds them now. */
  heldBefore: ReadonlySet<string>;
  /** The last holder of each reported SIM that is known and has no holder now. Holders without proof do not count. */
  lastHolders: ReadonlyMap<string, string>;
  /** How many more known SIMs the node may get that it never held. */
  movesLeft: number;
  /** The only node that may become the first holder, by SIM. */
  expected: ReadonlyMap<string, string>;
  /** Unknown SIMs that it reported recently. */
  newSims: number;
  newSimsMax: number;
  /** The node gets no new SIM until an operator approves it. */
  isSuspended: boolean;
  /** Time in which a holder may reconnect before its SIM can be taken. */
  waitMs: number;
  now: Date;
}

export interface ClaimDecision {
  /** One slot a SIM, by SIM. */
  held: SimSlot[];
  /**
   * SIMs of `held` that the node did not hold. `from`: the node that had not released it. `movedFrom`: the holder before, of a known SIM
   * that this node never held.
   */
  taken: Array<{ iccid: string; from: string | null; movedFrom: string | null }>;
  refused: Array<{ iccid: string; slot: string; cause: RefusalCause; isKnown: boolean }>;
  /** SIMs that the node released. */
  released: string[];
  unseen: string[];
  isSuspended: boolean;
}

type Verdict = 'take' | 'take_without_release' | 'take_back' | RefusalCause;

/** Decides the changes that a node's report makes. */
export function decideClaims(input: ClaimInput): ClaimDecision {
  const { nodeId, slots, tenures } = input;
  const reported = simSlots(slots);
  const byIccid = new Map(tenures.map((tenure) => [tenure.iccid, tenure]));
  const own = tenures.filter((tenure) => tenure.nodeId === nodeId);
  const held = reported.filter(({ iccid }) => byIccid.get(iccid)?.nodeId === nodeId);
  const claims = reported
    .filter(({ iccid, state }) => {
      const holder = byIccid.get(iccid)?.nodeId;
      // A slot that lost its modem still reports its last SIM.
      return holder === undefined || (holder !== nodeId && state !== 'lost');
    })
    .map((slot) => ({ slot, verdict: verdictOn(byIccid.get(slot.iccid), slot.iccid, input) }));
  // The holder of an imported card may itself have guessed its ICCID; a former holder of a SIM does not guess.
  const contested = claims.filter(
    ({ slot: { iccid }, verdict }) =>
      verdict === 'contested' && byIccid.get(iccid)?.isUnproven === false && !input.heldBefore.has(iccid),
  ).length;
  const moves = new Map(
    claims.flatMap(({ slot: { iccid }, verdict }) => {
      const from = isRefusal(verdict) ? undefined : movedFrom(byIccid.get(iccid), iccid, input);
      return from === undefined ? [] : [[iccid, from]];
    }),
  );
  const isSuspended =
    input.isSuspended ||
    contested > CONTESTED_MAX ||
    moves.size > input.movesLeft ||
    input.newSims > input.newSimsMax;
  const decision: ClaimDecision = {
    held: [...held],
    taken: [],
    refused: [],
    released: [],
    unseen: [],
    isSuspended,
  };
  for (const { slot, verdict } of claims) {
    const { iccid } = slot;
    const tenure = byIccid.get(iccid);
    if (isRefusal(verdict) || (isSuspended && verdict !== 'take_back')) {
      const cause = isRefusal(verdict) ? verdict : 'suspended';
      const isKnown = tenure !== undefined || cause === 'expected_elsewhere';
      decision.refused.push({ iccid, slot: slot.slot, cause, isKnown });
      continue;
    }
    decision.held.push(slot);
    const from = verdict === 'take_without_release' ? (tenure?.nodeId ?? null) : null;
    decision.taken.push({ iccid, from, movedFrom: moves.get(iccid) ?? null });
  }
  decision.held.sort((a, b) => (a.iccid < b.iccid ? -1 : 1));
  const seen = new Set(held.map(({ iccid }) => iccid));
  for (const tenure of own)
    if (!seen.has(tenure.iccid))
      decision[isReleased(tenure, slots) ? 'released' : 'unseen'].push(tenure.iccid);
  return decision;
}

const isRefusal = (verdict: Verdict): verdict is RefusalCause => REFUSALS.has(verdict);

const REFUSALS: ReadonlySet<Verdict> = new Set<RefusalCause>([
  'contested',
  'waiting',
  'barred',
  'expected_elsewhere',
]);

function verdictOn(
  tenure: Tenure | undefined,
  iccid: string,
  { nodeId, contested, expected, now, waitMs }: ClaimInput,
): Verdict {
  const contestedSince = contested.get(iccid);
  const elapsedMs = (since: Date): number => now.getTime() - since.getTime();
  if (tenure === undefined && (expected.get(iccid) ?? nodeId) !== nodeId) return 'expected_elsewhere';
  if (tenure === undefined)
    return contestedSince !== undefined && elapsedMs(contestedSince) > CONTESTED_MS ? 'barred' : 'take';
  const isRecent = elapsedMs(tenure.since) < RECLAIM_MS && !isSettled(tenure, now);
  if (tenure.takenFrom === nodeId && isRecent) return 'take_back';
  if (tenure.sighting !== 'lost') {
    if (tenure.isLinked && tenure.sighting === 'present') return 'contested';
    const goneSince = tenure.isLinked ? tenure.sightingSince : tenure.awaySince;
    if (elapsedMs(goneSince) < waitMs) return 'waiting';
  }
  // A node that claimed it while the holder still had it did not have the SIM then.
  return contestedSince === undefined ? 'take_without_release' : 'barred';
}

/** The node from which a known SIM moves to one that never held it, and that no operator named for it. */
function movedFrom(
  tenure: Tenure | undefined,
  iccid: string,
  { expected, heldBefore, lastHolders, nodeId }: ClaimInput,
): string | undefined {
  // A holder without proof may itself have guessed the SIM.
  const isHeld = tenure?.isKnown === true && !tenure.isUnproven;
  const from = isHeld ? tenure.nodeId : lastHolders.get(iccid);
  return from === nodeId || heldBefore.has(iccid) || expected.get(iccid) === nodeId ? undefined : from;
}

/** The holder has reported the SIM long enough to prove that it has the card. */
function isSettled({ awaySince, isLinked, sighting, sightingSince }: Tenure, now: Date): boolean {
  const seenUntil = isLinked ? now : awaySince;
  return sighting === 'present' && seenUntil.getTime() - sightingSince.getTime() > CONTESTED_MS;
}

/** A modem that starts does not know its SIM yet. Only an empty slot, or one with another SIM, releases a SIM. */
function isReleased({ slot: name, isKnown, iccid }: Tenure, slots: readonly Slot[]): boolean {
  if (!isKnown) return true;
  return slots.some(
    (slot) =>
      slot.slot === name && (slot.state === 'sim_absent' || (slot.iccid !== null && slot.iccid !== iccid)),
  );
}

/** One slot per SIM, sorted by SIM: two nodes that report the same SIMs must not deadlock. */
function simSlots(slots: readonly Slot[]): SimSlot[] {
  const byIccid = new Map<string, SimSlot>();
  for (const slot of slots) {
    if (slot.iccid === null) continue;
    // After a move two slots report the same SIM; the slot that lost its modem reports the past.
    if (slot.state !== 'lost' || !byIccid.has(slot.iccid))
      byIccid.set(slot.iccid, { ...slot, iccid: slot.iccid });
  }
  return [...byIccid.values()].sort((a, b) => (a.iccid < b.iccid ? -1 : 1));
}
