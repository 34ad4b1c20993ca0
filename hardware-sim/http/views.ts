// Modems and messages as JSON.
import type { Carrier } from '../carrier/carrier.ts';
import type { SimCard } from '../equipment/sim-card.ts';
import type { SimulatedModem } from '../modem/modem.ts';
import type { SimCards } from '../modem/sim-cards.ts';
import type { HeardMessage } from '../state/records.ts';

/** A modem as `GET /modems` shows it. Without a card its ICCID, IMSI and number are null. */
export function modemView(modem: SimulatedModem): Record<string, unknown> {
  const { slot, imei } = modem.identity;
  const { soundCard } = modem.power;
  const { iccid, imsi, number } = modem.sim.card?.identity ?? { iccid: null, imsi: null, number: null };
  return {
    slot,
    imei,
    iccid,
    imsi,
    number,
    make: modem.make.name,
    usb: modem.usb,
    // Null for a modem without one.
    sound_card: soundCard === undefined ? null : { number: soundCard.number, id: soundCard.id },
    ports: modem.portPaths,
    state: modem.state,
    stores: modem.stores.usage(),
    faults: modem.faults.list(),
  };
}

/** A card as `GET /sims` shows it. */
export function simView(card: SimCard, simCards: SimCards, carrier: Carrier): Record<string, unknown> {
  const { iccid, imsi, number } = card.identity;
  const holder = simCards.holderOf(card)?.identity.slot ?? null;
  return { iccid, imsi, number, slot: holder, state: card.state, waiting: carrier.waitingCount(iccid) };
}

/** A message as `GET /sms` shows it. */
export function messageView(message: HeardMessage): Record<string, unknown> {
  const { id, ...fields } = message;
  return { id, at: new Date(message.at_ms).toISOString(), ...fields };
}
