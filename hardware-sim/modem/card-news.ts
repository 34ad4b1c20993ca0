// What a modem says of a card that is taken out or put in, in the words of its make.
import type { MakeLines } from '../makes/make.ts';

/** For one modem. */
export class CardNews {
  readonly #lines: MakeLines;
  readonly #sendUrc: (line: string) => void;
  #isFaultTold = false;

  constructor(lines: MakeLines, sendUrc: (line: string) => void) {
    this.#lines = lines;
    this.#sendUrc = sendUrc;
  }

  tellRemoved(): void {
    for (const line of this.#lines.cardRemoved) this.#sendUrc(line);
  }

  tellInserted(): void {
    for (const line of this.#lines.cardInserted) this.#sendUrc(line);
  }

  /** The end of a fault that was told of is told of, too. */
  follow(isFaultTold: boolean): void {
    if (isFaultTold === this.#isFaultTold) return;
    this.#isFaultTold = isFaultTold;
    if (isFaultTold) this.tellRemoved();
    else this.tellInserted();
  }
}
