// A node's reports about its slots and itself, stored as they arrive. If several arrive during a write, or while a node that reports too
// much has to wait, only the last is stored.
import { createHash } from 'node:crypto';
import type { Timer } from '#shared/clock.ts';
import type { PinKey } from '#shared/link/pin-seal.ts';
import type { Slot } from '#shared/link/slot.ts';
import { setAlarms, setJournalDepth } from '../store/fleet/node-links.ts';
import { addRefusals } from '../store/fleet/node-refusals.ts';
import { refreshReadings, withoutReadings } from '../store/fleet/sim-readings.ts';
import { countTenures } from '../store/fleet/sim-tenures.ts';
import { type ClaimRules, replaceSlots, type SlotChange } from '../store/fleet/sims.ts';
import { commitWaitingFacts } from './fact-commit.ts';
import type { NodeLink } from './node-link.ts';
import { PinDelivery, type PinDeliveryParts } from './pin-delivery.ts';
import { bindPending, type ProvisioningParts } from './provisioning.ts';
import { ALARMS_COST, type ReportBudget } from './report-budget.ts';

interface Snapshot {
  slots: readonly Slot[];
  alarms: readonly string[];
  journal_depth?: number | undefined;
}

export interface SnapshotParts extends ProvisioningParts, PinDeliveryParts {
  claims: ClaimRules;
  /** All links of the node share it. */
  reportBudget: ReportBudget;
}

/** A report whose readings alone changed is stored whole after this time. */
const WHOLE_EVERY_MS = 60_000;

const REFUSED_NUMBERS_MAX = 1_000;

export class SlotSnapshots {
  readonly #parts: SnapshotParts;
  readonly #link: NodeLink;
  readonly #linkId: string;
  readonly #fail: (error: unknown) => void;
  #next: Snapshot | undefined;
  #writing: Promise<void> | undefined;
  #isEnded = false;
  #isBinding = false;
  #isBindingAsked = false;
  /** Digests of slots, which are short. */
  #writtenSlots = '';
  /** The slots of the last report that was stored, or tried. */
  #paidSlots: readonly Slot[] = [];
  /** The slots of the last report that was stored whole, without their readings; empty: the next one is stored whole. */
  #wholeSlots = '';
  #wholeAt = 0;
  /** The slots that other parts were last notified of. */
  #publishedSlots = '';
  /** Undefined: those of the node's last link are stored. */
  #writtenAlarms: string | undefined;
  #writtenJournalDepth: number | null | undefined;
  #last: Snapshot | undefined;
  /** Refused claims: they are retried when other nodes release SIMs. */
  #refused = 0;
  #tenures = 0;
  /** SIMs whose numbers were refused on this link. */
  readonly #refusedNumbers = new Set<string>();
  readonly #pins: PinDelivery;
  /** Reports so far, and those of them that are stored or were replaced by a stored one. */
  #putCount = 0;
  #doneCount = 0;
  /** The report that is being stored. */
  #round: Promise<void> | undefined;
  /** Ends the wait of a report that is not stored yet. */
  #wake: (() => void) | undefined;

  constructor(parts: SnapshotParts, link: NodeLink, linkId: string, fail: (error: unknown) => void) {
    this.#parts = parts;
    this.#link = link;
    this.#linkId = linkId;
    this.#fail = fail;
    this.#pins = new PinDelivery(parts, link);
  }

  /** The key of the node that PINs are sealed for; without one, the node gets none. */
  setPinKey(key: PinKey | undefined, publicKey: Buffer): void {
    this.#pins.setKey(key, publicKey);
  }

  /** Gives the node the PINs that its locked cards wait for. Never rejects. */
  unlock(): Promise<void> {
    return this.#pins.deliver();
  }

  /** Resolves when all reports so far are stored, or have failed. Later ones, which may have to wait, do not count. */
  async written(): Promise<void> {
    const put = this.#putCount;
    while (this.#isWriting() && this.#doneCount < put) await this.#round?.catch(() => undefined);
  }

  /** Drops the reports that wait for their turn: the link has ended, and the node reports again on its next one. Never rejects. */
  async end(): Promise<void> {
    this.#isEnded = true;
    this.#wake?.();
    await this.#writing;
  }

  /** Retries refused claims: another node may have released its SIM, or be away long enough. */
  recheck(): void {
    if (this.#refused > 0) this.#again();
  }

  /**
   * Like `recheck`, and also covers two cases: a SIM that this node still reports was taken from it, and a fact began to wait just when its
   * SIM became the node's. Call it now and then.
   */
  async recheckAll(): Promise<void> {
    if (this.#refused > 0) return this.#again();
    // The count changes with the write under way.
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
    this.#wholeSlots = '';
    this.put(this.#last);
  }

  put(snapshot: Snapshot): void {
    this.#putCount += 1;
    this.#next = snapshot;
    this.#writing ??= this.#write()
      .catch(this.#fail)
      .finally(() => {
        this.#writing = undefined;
      });
  }

  async #write(): Promise<void> {
    while (this.#next !== undefined) {
      this.#round = this.#writeLast();
      await this.#round;
    }
  }

  /** Stores the last report, when the node's budget allows it. */
  async #writeLast(): Promise<void> {
    const { pauseMs } = this.#parts.reportBudget;
    if (pauseMs > 0 && !this.#isEnded) await this.#rest(pauseMs);
    const last = this.#next;
    if (last === undefined) return;
    const put = this.#putCount;
    this.#last = last;
    this.#next = undefined;
    const { slots, alarms, journal_depth: depth = null } = last;
    await this.#parts.fleet.reporting.run(async () => {
      if (this.#isEnded || this.#isReplaced()) return;
      await this.#writeAlarms(alarms);
      await this.#writeJournalDepth(depth);
      await this.#writeSlots(slots);
    });
    this.#doneCount = put;
  }

  /** Waits while the earlier reports of the node have cost too much. Newer reports take the place of this one meanwhile. */
  async #rest(pauseMs: number): Promise<void> {
    const { clock, reportBudget } = this.#parts;
    let timer: Timer | undefined;
    await Promise.all([
      this.#noteLate(reportBudget.countLate(pauseMs)),
      new Promise<void>((resolve) => {
        this.#wake = resolve;
        timer = clock.after(pauseMs, resolve);
      }),
    ]);
    timer?.cancel();
    this.#wake = undefined;
  }

  async #noteLate(count: number): Promise<void> {
    if (count === 0) return;
    const { clock, db, log } = this.#parts;
    log.warn({ reports: count }, 'a node reports changes of its slots too fast: they are stored late');
    await addRefusals(db, { nodeId: this.#link.nodeId, reason: 'reports', count }, new Date(clock.now()));
  }

  /** Its reports would change nothing. A node that links again and again must not take the turns of others with them. */
  #isReplaced(): boolean {
    const present = this.#parts.fleet.find(this.#link.nodeId);
    return present !== undefined && present !== this.#link;
  }

  async #writeSlots(slots: readonly Slot[]): Promise<void> {
    const { db, claims, clock } = this.#parts;
    const digest = digestOf(slots);
    if (digest === this.#writtenSlots) return;
    this.#parts.reportBudget.payFor(slots, this.#paidSlots);
    this.#paidSlots = slots;
    const isKnown = digest === this.#publishedSlots;
    const link = { nodeId: this.#link.nodeId, linkId: this.#linkId };
    const now = new Date(clock.now());
    const wholeSlots = digestOf(slots.map(withoutReadings));
    const isSame = wholeSlots === this.#wholeSlots && now.getTime() - this.#wholeAt < WHOLE_EVERY_MS;
    if (isSame && (await refreshReadings(db, link, slots, now))) {
      this.#writtenSlots = digest;
      this.#publishedSlots = digest;
      this.#publishChange();
      return;
    }
    const change = await replaceSlots(db, link, slots, { ...claims, now });
    this.#writtenSlots = digest;
    this.#publishedSlots = digest;
    this.#wholeSlots = change.refused === 0 ? wholeSlots : '';
    this.#wholeAt = now.getTime();
    // An operator may also have given it a SIM.
    const isMore = change.taken.length > 0 || change.refused < this.#refused;
    this.#refused = change.refused;
    this.#tenures = change.tenures;
    // Even if it got no SIM now: the link may have ended between an earlier change of holder and its texts.
    await commitWaitingFacts(this.#parts, this.#link.nodeId);
    if (!isKnown || isMore) this.#publishChange({ mayHaveReleased: true });
    await this.#noteRefusals(change);
    void this.bindPending();
    this.#pins.slotsChanged(slots);
  }

  async #noteRefusals({ conflicts, isSuspendedNow, unsellable }: SlotChange): Promise<void> {
    const { db, clock, log } = this.#parts;
    if (isSuspendedNow)
      log.error(
        {},
        'node gets no new SIMs until it is approved: it claimed SIMs that other nodes report, many SIMs that other nodes had, or many unknown SIMs',
      );
    const isNew = (iccid: string): boolean => !this.#refusedNumbers.has(iccid);
    const taken = conflicts.map(({ iccid }) => iccid).filter(isNew);
    const invalid = unsellable.filter(isNew);
    for (const iccid of taken) log.warn({ iccid }, 'a SIM reported a number that belongs to another SIM');
    for (const iccid of invalid)
      log.warn({ iccid }, 'a SIM reported a number that is not a US mobile number');
    // Bounded: a node may invent any number of SIMs.
    if (this.#refusedNumbers.size < REFUSED_NUMBERS_MAX)
      for (const iccid of [...taken, ...invalid]) this.#refusedNumbers.add(iccid);
    const count = taken.length + invalid.length;
    await addRefusals(db, { nodeId: this.#link.nodeId, reason: 'numbers', count }, new Date(clock.now()));
  }

  async #writeAlarms(alarms: readonly string[]): Promise<void> {
    const text = JSON.stringify([...alarms].sort());
    if (text === this.#writtenAlarms) return;
    const { nodeId } = this.#link;
    const isChanged = await setAlarms(this.#parts.db, { nodeId, linkId: this.#linkId }, alarms);
    this.#writtenAlarms = text;
    if (!isChanged) return;
    this.#parts.reportBudget.pay(ALARMS_COST);
    if (alarms.length > 0) this.#parts.log.warn({ alarms }, 'node reported alarms');
    else this.#parts.log.info({}, 'node reported that its alarms ended');
    this.#publishChange();
  }

  #publishChange({ mayHaveReleased = false } = {}): void {
    this.#parts.bus.publish({ kind: 'node_changed', nodeId: this.#link.nodeId, mayHaveReleased });
  }

  async #writeJournalDepth(depth: number | null): Promise<void> {
    if (depth === this.#writtenJournalDepth) return;
    await setJournalDepth(this.#parts.db, { nodeId: this.#link.nodeId, linkId: this.#linkId }, depth);
    this.#writtenJournalDepth = depth;
  }

  /**
   * Asks the node to confirm the SIMs of new subscriptions. Never rejects. A slow node does not delay the storing of its slots. If a
   * subscription is added during a run, another run follows.
   */
  async bindPending(): Promise<void> {
    this.#isBindingAsked = true;
    if (this.#isBinding) return;
    this.#isBinding = true;
    while (this.#isBindingAsked) {
      this.#isBindingAsked = false;
      await bindPending(this.#parts, this.#link).catch((error: unknown) =>
        this.#parts.log.warn({ err: error }, 'binding subscriptions failed'),
      );
    }
    this.#isBinding = false;
  }
}

const digestOf = (slots: readonly Slot[]): string =>
  createHash('sha256').update(JSON.stringify(slots)).digest('base64');
