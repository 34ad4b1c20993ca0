// All SIM cards of the rack, in modems or beside them; moving them, and making new ones.
import type { Carrier } from '../carrier/carrier.ts';
import { type SimIdentity, simIdentityOf } from '../equipment/identity.ts';
import { SimCard } from '../equipment/sim-card.ts';
import type { RackJournal } from '../state/rack-journal.ts';
import { modemMemoriesOf, simMemoriesOf } from '../state/rack-state.ts';
import type { RackRecord } from '../state/records.ts';
import type { SimulatedModem } from './modem.ts';

/** No card has this number. */
export class UnknownCardError extends Error {
  override name = 'UnknownCardError';
}

/** The wanted identity of a new card, in fields of `SimIdentity`. */
interface WantedCard {
  number: string;
  iccid?: string | undefined;
  imsi?: string | undefined;
}

/** The carrier does not make the card. */
export class CardNotIssuedError extends Error {
  override name = 'CardNotIssuedError';
  readonly code: 'sim_exists' | 'too_many_sims';

  constructor(code: CardNotIssuedError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Cards that one rack gets beside those of its slots. */
const ISSUED_MAX = 1_000;
/** Their positions lie above those of all slots of all racks. */
const FIRST_ISSUED = 1_000_000;

export class SimCards {
  readonly #cards: Map<string, SimCard>;
  readonly #firstIssued: number;
  readonly #modems: readonly SimulatedModem[];
  readonly #journal: RackJournal;
  readonly #carrier: Carrier;

  /** Puts each card where it was last, or into the modem of the same position. `firstModem`: position of the rack among racks. */
  constructor(
    identities: readonly SimIdentity[],
    {
      modems,
      journal,
      carrier,
      firstModem,
    }: {
      modems: readonly SimulatedModem[];
      journal: RackJournal;
      carrier: Carrier;
      firstModem: number;
    },
  ) {
    const all = [...identities, ...journal.state.issued];
    this.#cards = new Map(all.map((identity) => [identity.iccid, new SimCard(identity)]));
    this.#firstIssued = FIRST_ISSUED + firstModem * ISSUED_MAX;
    this.#modems = modems;
    this.#journal = journal;
    this.#carrier = carrier;
    for (const identity of all) carrier.addSubscription(identity);
    const placed = (modem: SimulatedModem) => modemMemoriesOf(journal.state, modem.imei).sim;
    for (const modem of modems) this.#putBack(placed(modem) ?? undefined, modem);
    for (const [index, modem] of modems.entries()) {
      if (placed(modem) !== null) this.#putBack(identities[index]?.iccid, modem);
    }
  }

  /** All cards, in the order of the slots that they began in; then those that were issued. */
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

  /**
   * The carrier makes a card for a number. It lies beside the modems. A card that had the number has no service any more, and what waited
   * for it waits for the new one. An identity that is not given is one that no other card has. Throws `CardNotIssuedError`, `JournalError`.
   */
  issue({ number, iccid, imsi }: WantedCard, network: string): SimCard {
    const { state } = this.#journal;
    const made = simIdentityOf(this.#firstIssued + state.issued.length, network);
    const identity = { iccid: iccid ?? made.iccid, imsi: imsi ?? made.imsi, number };
    if (this.#cards.has(identity.iccid))
      throw new CardNotIssuedError('sim_exists', `there is a card with the ICCID ${identity.iccid}`);
    if (state.issued.length >= ISSUED_MAX)
      throw new CardNotIssuedError('too_many_sims', `${ISSUED_MAX} cards were issued already`);
    const former = this.#carrier.subscriptionOf(number);
    const waiting = former === undefined ? [] : this.#handedOver(former.iccid, identity.iccid);
    this.#journal.commit([{ kind: 'issued', card: identity }, ...waiting]);
    const card = new SimCard(identity);
    this.#cards.set(identity.iccid, card);
    this.#carrier.addSubscription(identity);
    const formerCard = this.#cards.get(former?.iccid ?? '');
    if (formerCard !== undefined) this.holderOf(formerCard)?.equipment.onConditionsChanged();
    return card;
  }

  /** Messages that wait for one card wait for another. */
  #handedOver(from: string, to: string): RackRecord[] {
    const { deliver, report } = simMemoriesOf(this.#journal.state, from).waiting;
    return [...deliver.values(), ...report.values()].flatMap((message): RackRecord[] => [
      { kind: 'taken', iccid: from, message_kind: message.kind, waiting_id: message.id },
      { kind: 'waiting', message: { ...message, iccid: to } },
    ]);
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
