// Which SIMs a node holds after its report. Pure. A node speaks for a SIM while it holds it, and takes another node's
// only after that one has let go of it.
import type { Slot } from '#shared/link/messages.ts';

/** An honest node loses a SIM before it appears elsewhere, or seconds later: more of these at once are guesses. */
export const CONTESTED_MAX = 3;

/**
 * SIMs of a day that a node may report and nobody imported or admitted: a full rack and some exchanged cards. Who guesses
 * the ICCIDs of imported cards shows more.
 */
export const NEW_SIMS_MAX = 96;

/** A claim beside a holder that reports the SIM is honest for so long; then only an operator's word makes it count. */
export const CONTESTED_MS = 2 * 60_000;

/** A claim that was contested is remembered for so long after its node made it last. */
export const CLAIM_KEPT_MS = 24 * 60 * 60_000;

/**
 * A former holder that never let go gets its SIM back within this time, unless the new one has reported it for longer than
 * `CONTESTED_MS`: then the card was carried there.
 */
const RECLAIM_MS = 24 * 60 * 60_000;

/** What its holder said of a SIM last: it is there; its modem is lost, and it may be anywhere; nothing. */
export type Sighting = 'present' | 'lost' | 'unseen';

/** A SIM and the node that holds it. */
export interface Tenure {
  iccid: string;
  nodeId: string;
  slot: string;
  since: Date;
  sighting: Sighting;
  sightingSince: Date;
  /** The node from which it was taken without having let go; null once the holder has reported it for `CONTESTED_MS`. */
  takenFrom: string | null;
  /** The holder's link is up. */
  isLinked: boolean;
  /** Since when it is not, at the latest. */
  awaySince: Date;
  /** Its number is, or was, for sale: who holds it matters. */
  isKnown: boolean;
  /** Its number was imported, and nothing but the holder's own word says that it has the SIM. */
  isUnproven: boolean;
}

/**
 * `contested`: the holder reports the SIM; `waiting`: the holder may be back in a moment; `expected_elsewhere`: an operator
 * expects it at another node.
 */
export type RefusalCause = 'contested' | 'waiting' | 'barred' | 'suspended' | 'expected_elsewhere';

export type SimSlot = Slot & { iccid: string };

export interface ClaimInput {
  nodeId: string;
  slots: readonly Slot[];
  /** Of this node, and of the SIMs that it reports. */
  tenures: readonly Tenure[];
  /** By SIM, since when this node's claim has been contested. */
  contested: ReadonlyMap<string, Date>;
  /** Of those that it reports, the SIMs that it held once: no guesses, whoever has them now. */
  heldBefore: ReadonlySet<string>;
  /** By SIM, the only node that may hold it first. */
  expected: ReadonlyMap<string, string>;
  /** SIMs that it reported of late and nobody knows. */
  newSims: number;
  /** It takes nothing new until an operator approves it. */
  isSuspended: boolean;
  /** Time in which a holder may come back before its SIM can be taken. */
  waitMs: number;
  now: Date;
}

export interface ClaimDecision {
  /** One slot a SIM, by SIM. */
  held: SimSlot[];
  /** Those of them that the node did not hold before. */
  taken: Array<{ iccid: string; from: string | null }>;
  refused: Array<{ iccid: string; slot: string; cause: RefusalCause; isKnown: boolean }>;
  /** The node let go of them. */
  released: string[];
  unseen: string[];
  isSuspended: boolean;
}

type Verdict = 'take' | 'take_without_release' | 'take_back' | RefusalCause;

/** What a node's report changes. */
export function decideClaims(input: ClaimInput): ClaimDecision {
  const { nodeId, slots, tenures } = input;
  const reported = simSlots(slots);
  const byIccid = new Map(tenures.map((tenure) => [tenure.iccid, tenure]));
  const own = tenures.filter((tenure) => tenure.nodeId === nodeId);
  const held = reported.filter(({ iccid }) => byIccid.get(iccid)?.nodeId === nodeId);
  const claims = reported
    .filter(({ iccid, state }) => {
      const holder = byIccid.get(iccid)?.nodeId;
      // A slot that lost its modem reports what was in it last.
      return holder === undefined || (holder !== nodeId && state !== 'lost');
    })
    .map((slot) => ({ slot, verdict: verdictOn(byIccid.get(slot.iccid), slot.iccid, input) }));
  // The holder of an imported card may be the one that guessed; and who held a SIM once does not guess.
  const contested = claims.filter(
    ({ slot: { iccid }, verdict }) =>
      verdict === 'contested' && byIccid.get(iccid)?.isUnproven === false && !input.heldBefore.has(iccid),
  ).length;
  const isSuspended = input.isSuspended || contested > CONTESTED_MAX || input.newSims > NEW_SIMS_MAX;
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
    decision.taken.push({ iccid, from });
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
  ...(['contested', 'waiting', 'barred', 'expected_elsewhere'] as const),
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
  // A node that claimed it before it was gone did not have it then.
  return contestedSince === undefined ? 'take_without_release' : 'barred';
}

/** The holder has reported the SIM for so long that it has the card. */
function isSettled({ awaySince, isLinked, sighting, sightingSince }: Tenure, now: Date): boolean {
  const seenUntil = isLinked ? now : awaySince;
  return sighting === 'present' && seenUntil.getTime() - sightingSince.getTime() > CONTESTED_MS;
}

/** A modem that starts does not know its SIM yet: only an empty slot, or another SIM in it, lets go. */
function isReleased({ slot: name, isKnown, iccid }: Tenure, slots: readonly Slot[]): boolean {
  if (!isKnown) return true;
  return slots.some(
    (slot) =>
      slot.slot === name && (slot.state === 'sim_absent' || (slot.iccid !== null && slot.iccid !== iccid)),
  );
}

/** One slot a SIM, in the order of SIMs: two nodes that report the same ones must not wait for each other. */
function simSlots(slots: readonly Slot[]): SimSlot[] {
  const byIccid = new Map<string, SimSlot>();
  for (const slot of slots) {
    if (slot.iccid === null) continue;
    // Two slots report the same SIM when it was moved: the one that lost its modem reports the past.
    if (slot.state !== 'lost' || !byIccid.has(slot.iccid))
      byIccid.set(slot.iccid, { ...slot, iccid: slot.iccid });
  }
  return [...byIccid.values()].sort((a, b) => (a.iccid < b.iccid ? -1 : 1));
}
