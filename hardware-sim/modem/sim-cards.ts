// All SIM cards of the rack, in modems or beside them, and moving them.
import type { Carrier } from '../carrier/carrier.ts';
import type { SimIdentity } from '../equipment/identity.ts';
import { SimCard } from '../equipment/sim-card.ts';
import type { RackJournal } from '../state/rack-journal.ts';
import { modemMemoriesOf } from '../state/rack-state.ts';
import type { SimulatedModem } from './modem.ts';

/** No card has this number. */
export class UnknownCardError extends Error {
  override name = 'UnknownCardError';
}

export class SimCards {
  readonly #cards: ReadonlyMap<string, SimCard>;
  readonly #modems: readonly SimulatedModem[];
  readonly #journal: RackJournal;
  readonly #carrier: Carrier;

  /** Puts each card where it was last, or into the modem of the same position. */
  constructor(
    identities: readonly SimIdentity[],
    {
      modems,
      journal,
      carrier,
    }: { modems: readonly SimulatedModem[]; journal: RackJournal; carrier: Carrier },
  ) {
    this.#cards = new Map(identities.map((identity) => [identity.iccid, new SimCard(identity)]));
    this.#modems = modems;
    this.#journal = journal;
    this.#carrier = carrier;
    for (const identity of identities) carrier.addSubscription(identity);
    const placed = (modem: SimulatedModem) => modemMemoriesOf(journal.state, modem.imei).sim;
    for (const modem of modems) this.#putBack(placed(modem) ?? undefined, modem);
    for (const [index, modem] of modems.entries()) {
      if (placed(modem) !== null) this.#putBack(identities[index]?.iccid, modem);
    }
  }

  /** All cards, in the order of the slots that they began in. */
  get cards(): readonly SimCard[] {
    return [...this.#cards.values()];
  }

  holderOf(card: SimCard): SimulatedModem | undefined {
    return this.#modems.find((modem) => modem.sim.card === card);
  }

  /**
   * Moves a card into a modem, with its messages. Without an ICCID it removes the card that is in the modem. With
   * `isAnnounced` the modems report the change. Throws `UnknownCardError`, `JournalError`.
   */
  put(iccid: string | undefined, modem: SimulatedModem, { isAnnounced }: { isAnnounced: boolean }): void {
    const card = iccid === undefined ? undefined : this.#cards.get(iccid);
    if (iccid !== undefined && card === undefined) {
      throw new UnknownCardError(`no card has the ICCID ${iccid}`);
    }
    const from = card === undefined ? undefined : this.holderOf(card);
    if (from === modem) return;
    this.#place(
      [
        [from, undefined],
        [modem, card],
      ],
      isAnnounced,
    );
  }

  /** The cards of two modems change places. Throws `JournalError`. */
  swap(first: SimulatedModem, second: SimulatedModem, { isAnnounced }: { isAnnounced: boolean }): void {
    this.#place(
      [
        [first, second.sim.card],
        [second, first.sim.card],
      ],
      isAnnounced,
    );
  }

  #putBack(iccid: string | undefined, modem: SimulatedModem): void {
    const card = this.#cards.get(iccid ?? '');
    if (card === undefined || modem.sim.card !== undefined || this.holderOf(card) !== undefined) return;
    modem.equipment.insertCard(card, { isAnnounced: false });
    this.#carrier.setHolder(card.identity.iccid, modem.equipment);
  }

  #place(
    placements: readonly (readonly [modem: SimulatedModem | undefined, card: SimCard | undefined])[],
    isAnnounced: boolean,
  ): void {
    const records = placements.flatMap(([modem, card]) =>
      modem === undefined
        ? []
        : [{ kind: 'placed' as const, imei: modem.imei, iccid: card?.identity.iccid ?? null }],
    );
    this.#journal.commit(records);
    for (const [modem] of placements) {
      const old = modem?.sim.card?.identity.iccid;
      if (old !== undefined) this.#carrier.setHolder(old, undefined);
    }
    for (const [modem, card] of placements) {
      if (modem === undefined) continue;
      if (card !== undefined) this.#carrier.setHolder(card.identity.iccid, modem.equipment);
      modem.equipment.insertCard(card, { isAnnounced });
    }
  }
}
