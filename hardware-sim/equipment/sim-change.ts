// The lines that a modem sends when its SIM card is removed or inserted.
import type { ModelLines } from './modem-model.ts';

/** For one modem. */
export class SimChange {
  readonly #lines: ModelLines;
  readonly #sendUrc: (line: string) => void;
  #isFaultReported = false;

  constructor(lines: ModelLines, sendUrc: (line: string) => void) {
    this.#lines = lines;
    this.#sendUrc = sendUrc;
  }

  reportRemoved(): void {
    for (const line of this.#lines.cardRemoved) this.#sendUrc(line);
  }

  reportInserted(): void {
    for (const line of this.#lines.cardInserted) this.#sendUrc(line);
  }

  /** Reports a fault of the card, and its end if the fault itself was reported. */
  follow(isFaultReported: boolean): void {
    if (isFaultReported === this.#isFaultReported) return;
    this.#isFaultReported = isFaultReported;
    if (isFaultReported) this.reportRemoved();
    else this.reportInserted();
  }
}
