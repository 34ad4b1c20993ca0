// The SIMs that the sessions of one host serve. Each is served by one session: a second modem that reports its ICCID, honest or not, would
// get its PIN, and speak for its number.

/** Reason of a slot, and alarm of its node: another modem of the host has a card with the same ICCID. */
export const DUPLICATE_ICCID = 'duplicate_iccid';

/** A session that serves a SIM, or waits for one. */
export interface SimHolder {
  /** The session reads its card again soon. A card that was moved is free for its new modem then. */
  readonly checkSim: () => void;
}

/** The sessions of one host by the ICCIDs of their SIMs. */
export class ServedSims {
  readonly #holders = new Map<string, SimHolder>();

  /** Gives a session this SIM, and takes every other one from it. Returns the session that has the SIM, if it is another. */
  take(iccid: string, session: SimHolder): SimHolder | undefined {
    const holder = this.#holders.get(iccid);
    if (holder === session) return undefined;
    this.release(session);
    if (holder === undefined) this.#holders.set(iccid, session);
    return holder;
  }

  release(session: SimHolder): void {
    for (const [iccid, holder] of this.#holders) if (holder === session) this.#holders.delete(iccid);
  }
}
