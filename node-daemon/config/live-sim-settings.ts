// The values of SIM cards that are in use: those of the configuration file, which win, and the PINs that the control plane gave.
import type { SimSettings } from './node-config.ts';

/** More cards than one host has. */
const CENTRAL_PINS_MAX = 1_024;

/** They change while the daemon runs. */
export class LiveSimSettings implements SimSettings {
  #configured: SimSettings;
  /** By ICCID, the latest last. In memory only: the control plane gives them again. */
  readonly #central = new Map<string, string>();

  constructor(configured: SimSettings) {
    this.#configured = configured;
  }

  /** The values of a file that was read again. */
  configure(configured: SimSettings): void {
    this.#configured = configured;
  }

  /** Keeps a PIN of the control plane. False if the configuration file has a PIN for the card: that one wins. */
  addCentral(iccid: string, pin: string): boolean {
    if (this.#configured.pinOf(iccid) !== undefined) return false;
    this.#central.delete(iccid);
    this.#central.set(iccid, pin);
    for (const oldest of this.#central.keys()) {
      if (this.#central.size <= CENTRAL_PINS_MAX) break;
      this.#central.delete(oldest);
    }
    return true;
  }

  pinOf(iccid: string | undefined): string | undefined {
    return this.#configured.pinOf(iccid) ?? (iccid === undefined ? undefined : this.#central.get(iccid));
  }

  numberOf(iccid: string): string | undefined {
    return this.#configured.numberOf(iccid);
  }
}
