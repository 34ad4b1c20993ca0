// The operator's data about SIM cards: PINs and numbers, by ICCID.

/** One SIM card, as configured. */
interface SimSetting {
  /** 4 to 8 digits. Never logged. */
  readonly pin?: string | undefined;
  /** E.164; the card itself often does not know it. */
  readonly number?: string | undefined;
}

/** Gives the configured values of cards. */
export interface SimSettings {
  /**
   * The PIN of a card; the common one for a card without its own. A card whose ICCID cannot be read may have its own: it has the
   * common one only where no card has.
   */
  pinOf(iccid: string | undefined): string | undefined;
  /** The card's number, E.164. */
  numberOf(iccid: string): string | undefined;
}

/** `pin` is for the cards that have none of their own in `sims`, which is keyed by ICCID. */
export function simSettings(sims: Readonly<Record<string, SimSetting>>, pin?: string): SimSettings {
  const known = new Map(Object.entries(sims));
  const nameless = Object.values(sims).some((sim) => sim.pin !== undefined) ? undefined : pin;
  return {
    pinOf: (iccid) => (iccid === undefined ? nameless : (known.get(iccid)?.pin ?? pin)),
    numberOf: (iccid) => known.get(iccid)?.number,
  };
}

/** Nothing is configured. */
export const NO_SIM_SETTINGS: SimSettings = simSettings({});
