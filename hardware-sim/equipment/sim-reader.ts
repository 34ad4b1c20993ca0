// The card reader of a modem: the card in it, if any, the lines about its removal and insertion, and the effect of the fault `sim`.
import type { Answer } from '../at/answer.ts';
import type { FaultOf } from '../faults/fault-set.ts';
import type { ModelLines } from './modem-model.ts';
import type { SimCard, SimState } from './sim-card.ts';

/** Empty at first. */
export class SimReader {
  #card: SimCard | undefined;
  /** The state that the fault plays, or `ready`. */
  #played: SimState = 'ready';
  readonly #lines: ModelLines;
  readonly #sendUrc: (line: string) => void;
  #isFaultReported = false;

  constructor(lines: ModelLines, sendUrc: (line: string) => void) {
    this.#lines = lines;
    this.#sendUrc = sendUrc;
  }

  get card(): SimCard | undefined {
    return this.#card;
  }

  get state(): SimState {
    return this.#card?.state ?? 'not_inserted';
  }

  get tries(): { pin: number; puk: number } {
    return this.#card?.tries ?? { pin: 0, puk: 0 };
  }

  /** Takes the old card out, if there is one. */
  insert(card: SimCard | undefined): void {
    this.#card = card;
    this.#card?.powerUp();
  }

  /** The modem has got power, and gives it to the card. */
  powerUp(): void {
    this.#card?.powerUp();
  }

  reportRemoved(): void {
    for (const line of this.#lines.cardRemoved) this.#sendUrc(line);
  }

  reportInserted(): void {
    for (const line of this.#lines.cardInserted) this.#sendUrc(line);
  }

  /** Sets the state of the card when its fault starts or ends. Reports the fault if it says so, and then its end. */
  follow(fault: FaultOf<'sim'> | undefined): void {
    const state = fault?.state ?? 'ready';
    if (state !== this.#played) {
      this.#played = state;
      this.#card?.setState(state, fault?.tries);
    }
    const isReported = fault?.urc === true;
    if (isReported === this.#isFaultReported) return;
    this.#isFaultReported = isReported;
    if (isReported) this.reportRemoved();
    else this.reportInserted();
  }

  /** As `SimCard.enter`. The right PIN ends the effect of the fault. */
  enter(code: string, newPin: string | undefined): Answer {
    if (this.#card === undefined) return { kind: 'error' };
    const answer = this.#card.enter(code, newPin);
    if (this.#card.state === 'ready') this.#played = 'ready';
    return answer;
  }

  /** A card as new: ready, and not asking for a PIN. */
  repair(): void {
    this.#played = 'ready';
    this.#card?.setState('ready');
  }
}
