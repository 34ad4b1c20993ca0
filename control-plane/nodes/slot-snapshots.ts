// What a node tells of its slots and of itself, written as it comes: when several come during a write, only the last.
import type { Slot } from '#shared/link/messages.ts';
import { setAlarms, setJournalDepth } from '../store/fleet/node-links.ts';
import { countRefused } from '../store/fleet/node-refusals.ts';
import { countTenures } from '../store/fleet/sim-tenures.ts';
import { type ClaimRules, replaceSlots, type SlotChange } from '../store/fleet/sims.ts';
import { commitWaitingFacts } from './fact-commit.ts';
import type { NodeLink } from './fleet.ts';
import { bindPending, type ProvisioningParts } from './provisioning.ts';

interface Snapshot {
  slots: readonly Slot[];
  alarms: readonly string[];
  journal_depth?: number | undefined;
}

export interface SnapshotParts extends ProvisioningParts {
  claims: ClaimRules;
}

const NO_ALARMS = '[]';

const REFUSED_NUMBERS_MAX = 1_000;

export class SlotSnapshots {
  readonly #parts: SnapshotParts;
  readonly #link: NodeLink;
  readonly #linkId: string;
  readonly #fail: (error: unknown) => void;
  #next: Snapshot | undefined;
  #writing: Promise<void> | undefined;
  #isBinding = false;
  #isBindingAsked = false;
  #writtenSlots = '';
  /** As others know them. */
  #toldSlots = '';
  /** A new link has none. */
  #writtenAlarms = NO_ALARMS;
  #writtenJournalDepth: number | null | undefined;
  #last: Snapshot | undefined;
  /** Claims that were refused: they are tried again when others let go. */
  #refused = 0;
  #tenures = 0;
  /** SIMs whose numbers were refused on this link. */
  readonly #refusedNumbers = new Set<string>();

  constructor(parts: SnapshotParts, link: NodeLink, linkId: string, fail: (error: unknown) => void) {
    this.#parts = parts;
    this.#link = link;
    this.#linkId = linkId;
    this.#fail = fail;
  }

  /** Resolves when all that was put so far is stored, or has failed. */
  async written(): Promise<void> {
    await this.#writing;
  }

  /** Tries claims again that were refused: another node may have let go, or be away for long enough. */
  recheck(): void {
    if (this.#refused > 0) this.#again();
  }

  /**
   * The same, also where a SIM was taken from this node that it reports as before, and where a fact began to wait just when
   * its SIM became the node's. To be called now and then.
   */
  async recheckAll(): Promise<void> {
    if (this.#refused > 0) return this.#again();
    // What is being written changes the count.
    if (this.#isWriting()) return;
    const tenures = await countTenures(this.#parts.db, this.#link.nodeId);
    if (this.#isWriting()) return;
    if (tenures === this.#tenures) await commitWaitingFacts(this.#parts, this.#link.nodeId);
    else this.#again();
  }

  #isWriting(): boolean {
    return this.#writing !== undefined;
  }

  #again(): void {
    if (this.#last === undefined || this.#next !== undefined) return;
    this.#writtenSlots = '';
    this.put(this.#last);
  }

  put(snapshot: Snapshot): void {
    this.#next = snapshot;
    this.#writing ??= this.#write()
      .catch(this.#fail)
      .finally(() => {
        this.#writing = undefined;
      });
  }

  async #write(): Promise<void> {
    while (this.#next !== undefined) {
      const { slots, alarms, journal_depth: depth = null } = this.#next;
      this.#last = this.#next;
      this.#next = undefined;
      await this.#writeAlarms(alarms);
      await this.#writeJournalDepth(depth);
      await this.#writeSlots(slots);
    }
  }

  async #writeSlots(slots: readonly Slot[]): Promise<void> {
    const { db, claims, clock } = this.#parts;
    const text = JSON.stringify(slots);
    if (text === this.#writtenSlots) return;
    const isKnown = text === this.#toldSlots;
    const link = { nodeId: this.#link.nodeId, linkId: this.#linkId };
    const change = await replaceSlots(db, link, slots, { ...claims, now: new Date(clock.now()) });
    this.#writtenSlots = text;
    this.#toldSlots = text;
    // An operator may have given it a SIM as well.
    const isMore = change.taken.length > 0 || change.refused < this.#refused;
    this.#refused = change.refused;
    this.#tenures = change.tenures;
    // Also where it took nothing: the link may have ended between an earlier take and its texts.
    await commitWaitingFacts(this.#parts, this.#link.nodeId);
    if (!isKnown || isMore) this.#tellChange();
    await this.#noteRefusals(change);
    void this.bindPending();
  }

  async #noteRefusals({ conflicts, isSuspendedNow, unsellable }: SlotChange): Promise<void> {
    const { db, clock, log } = this.#parts;
    if (isSuspendedNow)
      log.error(
        {},
        'node suspended: it claims SIMs that other nodes report, or many that nobody knows; it takes no new SIM until it is approved',
      );
    const isNew = (iccid: string): boolean => !this.#refusedNumbers.has(iccid);
    const taken = conflicts.map(({ iccid }) => iccid).filter(isNew);
    const invalid = unsellable.filter(isNew);
    for (const iccid of taken) log.warn({ iccid }, 'a SIM claims a number that another SIM has');
    for (const iccid of invalid) log.warn({ iccid }, 'a SIM claims a number that is no US mobile number');
    // A node that makes SIMs up is not remembered for each of them.
    if (this.#refusedNumbers.size < REFUSED_NUMBERS_MAX)
      for (const iccid of [...taken, ...invalid]) this.#refusedNumbers.add(iccid);
    const count = taken.length + invalid.length;
    await countRefused(db, { nodeId: this.#link.nodeId, reason: 'numbers', count }, new Date(clock.now()));
  }

  async #writeAlarms(alarms: readonly string[]): Promise<void> {
    const text = JSON.stringify([...alarms].sort());
    if (text === this.#writtenAlarms) return;
    await setAlarms(this.#parts.db, { nodeId: this.#link.nodeId, linkId: this.#linkId }, alarms);
    if (alarms.length > 0) this.#parts.log.warn({ alarms }, 'the node has troubles');
    else this.#parts.log.info({}, 'the node has no trouble any more');
    this.#writtenAlarms = text;
    this.#tellChange();
  }

  #tellChange(): void {
    this.#parts.bus.publish({ kind: 'node_changed', nodeId: this.#link.nodeId });
  }

  async #writeJournalDepth(depth: number | null): Promise<void> {
    if (depth === this.#writtenJournalDepth) return;
    await setJournalDepth(this.#parts.db, { nodeId: this.#link.nodeId, linkId: this.#linkId }, depth);
    this.#writtenJournalDepth = depth;
  }

  /**
   * Has the node confirm the SIMs that subscriptions wait for. Never rejects. A node that answers slowly does not hold up
   * what is known of its slots; one that comes up during a run was not looked at by it: there is one run more.
   */
  async bindPending(): Promise<void> {
    this.#isBindingAsked = true;
    if (this.#isBinding) return;
    this.#isBinding = true;
    while (this.#isBindingAsked) {
      this.#isBindingAsked = false;
      await bindPending(this.#parts, this.#link).catch((error: unknown) =>
        this.#parts.log.warn({ err: error }, 'cannot bind subscriptions'),
      );
    }
    this.#isBinding = false;
  }
}
