// Gives a node the PINs of the locked cards that it holds, sealed for its key.
import { randomUUID } from 'node:crypto';
import { Encrypter } from 'age-encryption';
import { CommandRefusal } from '#shared/link/command-refusal.ts';
import { type PinKey, pinKeyText, type SealedPin } from '#shared/link/pin-seal.ts';
import type { Slot } from '#shared/link/slot.ts';
import type { Base } from '../bus/base.ts';
import { PinUnreadable, type PinVault } from '../pins/pin-vault.ts';
import {
  findWaitingPins,
  notePinUnreadable,
  recordPinAnswers,
  returnPin,
  takePin,
  type WaitingPin,
} from '../store/cards/card-pins.ts';
import { type CommandLink, NodeUnavailable } from './node-link.ts';
import { isSignedBy } from './node-signature.ts';

const COMMAND_TIMEOUT_MS = 5_000;

export interface PinDeliveryParts extends Base {
  pins: PinVault;
}

export class PinDelivery {
  readonly #parts: PinDeliveryParts;
  readonly #link: CommandLink;
  #recipient: string | undefined;
  /** Cards may have been locked, or waited for the result of a PIN, before this link. */
  #hasLocked = true;
  #delivering: Promise<void> | undefined;
  #isAskedAgain = false;

  constructor(parts: PinDeliveryParts, link: CommandLink) {
    this.#parts = parts;
    this.#link = link;
  }

  /** A key that the node's own key has not signed may be that of a proxy on the way. */
  setKey(key: PinKey | undefined, publicKey: Buffer): void {
    if (key === undefined) return;
    if (isSignedBy(publicKey, pinKeyText(this.#link.nodeId, key.recipient), key.signature))
      this.#recipient = key.recipient;
    else this.#parts.log.error({}, 'a node gets no PINs: the signature of its PIN key is wrong');
  }

  /** Call it when the slots of the node are stored. */
  slotsChanged(slots: readonly Slot[]): void {
    const isLocked = slots.some(({ state }) => state === 'sim_locked');
    const isWork = isLocked || this.#hasLocked;
    this.#hasLocked = isLocked;
    if (isWork) void this.#run();
  }

  /** Call it now and then: a PIN may have been added. */
  async deliver(): Promise<void> {
    if (this.#hasLocked) await this.#run();
  }

  /** One run at a time; a request during a run leads to another run. */
  async #run(): Promise<void> {
    this.#isAskedAgain = true;
    this.#delivering ??= this.#deliverAll().finally(() => {
      this.#delivering = undefined;
    });
    await this.#delivering;
  }

  async #deliverAll(): Promise<void> {
    const { db, clock, log } = this.#parts;
    const { nodeId } = this.#link;
    while (this.#isAskedAgain) {
      this.#isAskedAgain = false;
      try {
        await recordPinAnswers(db, nodeId, new Date(clock.now()));
        if (this.#recipient === undefined) continue;
        for (const waiting of await findWaitingPins(db, nodeId, new Date(clock.now())))
          await this.#give(waiting, this.#recipient);
      } catch (error) {
        log.warn({ err: error }, 'giving PINs to a node failed');
      }
    }
  }

  async #give({ iccid, isUnreadable, pin: sealed }: WaitingPin, recipient: string): Promise<void> {
    const { db, clock, log, pins } = this.#parts;
    const { nodeId } = this.#link;
    let pin: string;
    try {
      pin = pins.open(iccid, sealed);
    } catch (error) {
      if (!(error instanceof PinUnreadable)) throw error;
      if (isUnreadable === true) return;
      log.error({ iccid, reason: error.message }, 'a PIN cannot be opened');
      return notePinUnreadable(db, iccid);
    }
    const command = { iccid, sealed_pin: await sealedFor(recipient, { iccid, pin }) };
    if (!(await takePin(db, { iccid, pin: sealed, nodeId, now: new Date(clock.now()) }))) return;
    try {
      await this.#link.command('unlock_sim', command, {
        id: `unlock_${randomUUID()}`,
        timeLeftMs: COMMAND_TIMEOUT_MS,
        timeoutMs: COMMAND_TIMEOUT_MS,
      });
      log.info({ iccid }, 'the node has the PIN of a card');
    } catch (error) {
      const isRead = error instanceof CommandRefusal;
      const isLate = isRead && error.code === 'deadline_passed';
      if (isRead || (error instanceof NodeUnavailable && !error.isSent))
        await returnPin(db, { iccid, isLate, isRead, nodeId, pin: sealed });
      log.warn({ err: error, iccid }, 'the node did not confirm the PIN of a card');
    }
  }
}

async function sealedFor(recipient: string, secret: SealedPin): Promise<string> {
  const encrypter = new Encrypter();
  encrypter.addRecipient(recipient);
  return Buffer.from(await encrypter.encrypt(JSON.stringify(secret))).toString('base64');
}
