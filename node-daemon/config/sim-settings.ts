// The configured PINs and numbers of SIM cards, by ICCID.

/** One SIM card, as configured. */
interface SimSetting {
  /** 4 to 8 digits. Never logged. */
  readonly pin?: string | undefined;
  /** E.164. Many cards do not contain their own number. */
  readonly number?: string | undefined;
}

/** Returns the configured values of SIM cards. */
export interface SimSettings {
  /**
   * Returns the PIN of a card, or the common PIN for a card without its own. A card with an unreadable ICCID may have a PIN of its
   * own, so it gets the common PIN only if no card has one.
   */
  pinOf(iccid: string | undefined): string | undefined;
  /** Returns the card's number, E.164. */
  numberOf(iccid: string): string | undefined;
}

/** `pin` is for cards without their own in `sims`, whose keys are ICCIDs. */
export function simSettings(sims: Readonly<Record<string, SimSetting>>, pin?: string): SimSettings {
  const known = new Map(Object.entries(sims));
  const nameless = Object.values(sims).some((sim) => sim.pin !== undefined) ? undefined : pin;
  return {
    pinOf: (iccid) => (iccid === undefined ? nameless : (known.get(iccid)?.pin ?? pin)),
    numberOf: (iccid) => known.get(iccid)?.number,
  };
}

/** No configured values. */
export const NO_SIM_SETTINGS: SimSettings = simSettings({});
