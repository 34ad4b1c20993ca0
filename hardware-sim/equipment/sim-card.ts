// A SIM card: identity, PIN, tries, state (3GPP TS 27.007 §8.3).
import { type Answer, CME, CMS, cme, ok } from '../at/answer.ts';
import type { SimIdentity } from './identity.ts';

/** State of a card, as `+CPIN?` reports it. */
export type SimState = 'ready' | 'not_inserted' | 'pin' | 'puk' | 'busy' | 'failure';

/** 3GPP TS 31.101: a PIN blocks after 3 wrong tries, a PUK after 10. */
const PIN_TRIES = 3;
const PUK_TRIES = 10;
const PUK = '12345678';

/** Names of the errors of +CME ERROR and +CMS ERROR that stand for a state. */
const ERRORS = {
  not_inserted: 'simNotInserted',
  pin: 'simPinRequired',
  puk: 'simPukRequired',
  busy: 'simBusy',
  failure: 'simFailure',
} as const satisfies Record<Exclude<SimState, 'ready'>, keyof typeof CME & keyof typeof CMS>;

/** The code of +CME ERROR that stands for a state; `undefined` when ready. */
export const cmeCodeOf = (state: SimState): number | undefined =>
  state === 'ready' ? undefined : CME[ERRORS[state]];

/** The same for +CMS ERROR. */
export const cmsCodeOf = (state: SimState): number | undefined =>
  state === 'ready' ? undefined : CMS[ERRORS[state]];

/** A card with PIN 1234 and PUK 12345678. */
export class SimCard {
  readonly identity: SimIdentity;
  #state: SimState = 'ready';
  #asksForPin = false;
  #pin = '1234';
  #pinTries = PIN_TRIES;
  #pukTries = PUK_TRIES;

  constructor(identity: SimIdentity) {
    this.identity = identity;
  }

  get state(): SimState {
    return this.#state;
  }

  /** Tries left for the PIN and the PUK. */
  get tries(): { pin: number; puk: number } {
    return { pin: this.#pinTries, puk: this.#pukTries };
  }

  /** Whether the card asks for its PIN when it gets power. */
  get asksForPin(): boolean {
    return this.#asksForPin;
  }

  /** Sets a state, with all tries left. `ready` also switches the PIN request off. */
  setState(state: SimState, pinTries = PIN_TRIES): void {
    this.#state = state;
    if (state === 'ready' || state === 'pin') {
      this.#pinTries = pinTries;
      this.#asksForPin = state === 'pin';
    }
    if (state === 'ready') this.#pukTries = PUK_TRIES;
    if (state === 'puk') this.#pinTries = 0;
  }

  /** The modem has got power: a card that asks for its PIN asks again. Wrong tries are not forgotten. */
  powerUp(): void {
    if (this.#asksForPin && this.#state === 'ready') this.#state = 'pin';
  }

  /** `AT+CPIN=<pin>`, or `AT+CPIN=<puk>,<new pin>`. */
  enter(code: string, newPin: string | undefined): Answer {
    if (this.#state === 'pin' && newPin === undefined) return this.#enterPin(code);
    if (this.#state === 'puk' && newPin !== undefined) return this.#enterPuk(code, newPin);
    return cme(cmeCodeOf(this.#state) ?? CME.operationNotAllowed);
  }

  /** `AT+CLCK="SC",<mode>,<pin>`: switches the PIN request on or off. A wrong PIN costs a try. */
  setAsksForPin(asks: boolean, pin: string): Answer {
    const wasReady = this.#state === 'ready';
    if (!wasReady) return cme(cmeCodeOf(this.#state) ?? CME.operationNotAllowed);
    const answer = this.#enterPin(pin);
    if (answer.kind === 'ok') this.#asksForPin = asks;
    return answer;
  }

  #enterPin(code: string): Answer {
    if (code === this.#pin) {
      this.#state = 'ready';
      this.#pinTries = PIN_TRIES;
      return ok();
    }
    this.#pinTries -= 1;
    if (this.#pinTries === 0) this.#state = 'puk';
    return cme(CME.incorrectPassword);
  }

  #enterPuk(code: string, newPin: string): Answer {
    if (code === PUK && /^\d{4,8}$/.test(newPin)) {
      this.#pin = newPin;
      this.#state = 'ready';
      this.#pinTries = PIN_TRIES;
      this.#pukTries = PUK_TRIES;
      return ok();
    }
    this.#pukTries -= 1;
    if (this.#pukTries === 0) this.#state = 'failure';
    return cme(CME.incorrectPassword);
  }
}
