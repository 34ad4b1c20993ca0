// What a node tells of its slots and of itself, written as it comes: when several come during a write, only the last.
import type { Slot } from '#shared/link/messages.ts';
import { setAlarms, setJournalDepth } from '../store/node-links.ts';
import { replaceSlots } from '../store/sims.ts';
import type { NodeLink } from './fleet.ts';
import { bindPending, type ProvisioningParts } from './provisioning.ts';

interface Snapshot {
  slots: readonly Slot[];
  alarms: readonly string[];
  journal_depth?: number | undefined;
}

const NO_ALARMS = '[]';

export class SlotSnapshots {
  readonly #parts: ProvisioningParts;
  readonly #link: NodeLink;
  readonly #linkId: string;
  readonly #fail: (error: unknown) => void;
  #next: Snapshot | undefined;
  #writing: Promise<void> | undefined;
  #isBinding = false;
  #isBindingAsked = false;
  #writtenSlots = '';
  /** A new link has none. */
  #writtenAlarms = NO_ALARMS;
  #writtenJournalDepth: number | null | undefined;

  constructor(parts: ProvisioningParts, link: NodeLink, linkId: string, fail: (error: unknown) => void) {
    this.#parts = parts;
    this.#link = link;
    this.#linkId = linkId;
    this.#fail = fail;
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
      this.#next = undefined;
      await this.#writeAlarms(alarms);
      await this.#writeJournalDepth(depth);
      await this.#writeSlots(slots);
    }
  }

  async #writeSlots(slots: readonly Slot[]): Promise<void> {
    const { db, clock, log } = this.#parts;
    const text = JSON.stringify(slots);
    if (text === this.#writtenSlots) return;
    const link = { nodeId: this.#link.nodeId, linkId: this.#linkId };
    const { conflicts } = await replaceSlots(db, link, slots, new Date(clock.now()));
    this.#writtenSlots = text;
    this.#tellChange();
    for (const { iccid } of conflicts) log.warn({ iccid }, 'a SIM claims a number that another SIM has');
    void this.bindPending();
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
