// The SIM card in a modem: its PIN, its tries, its state (3GPP TS 27.007 §8.3).
import { type Answer, CME, CMS, cme, ok } from './answer.ts';

/** What stands between the modem and the card. */
export type SimState = 'ready' | 'not_inserted' | 'pin' | 'puk' | 'busy' | 'failure';

/** 3GPP TS 31.101: a PIN blocks after 3 wrong tries, a PUK after 10. */
const PIN_TRIES = 3;
const PUK_TRIES = 10;
const PUK = '12345678';

const CME_CODES: Record<Exclude<SimState, 'ready'>, number> = {
  not_inserted: CME.simNotInserted,
  pin: CME.simPinRequired,
  puk: CME.simPukRequired,
  busy: CME.simBusy,
  failure: CME.simFailure,
};

const CMS_CODES: Record<Exclude<SimState, 'ready'>, number> = {
  not_inserted: CMS.simNotInserted,
  pin: CMS.simPinRequired,
  puk: CMS.simPukRequired,
  busy: CMS.simBusy,
  failure: CMS.simFailure,
};

/** A card with PIN 1234 and PUK 12345678. */
export class SimCard {
  #state: SimState = 'ready';
  #pin = '1234';
  #pinTries = PIN_TRIES;
  #pukTries = PUK_TRIES;

  get state(): SimState {
    return this.#state;
  }

  /** Tries left for the PIN and the PUK. */
  get tries(): { pin: number; puk: number } {
    return { pin: this.#pinTries, puk: this.#pukTries };
  }

  /** Plays a state; `ready` also gives back all tries. */
  setState(state: SimState): void {
    this.#state = state;
    if (state === 'ready' || state === 'pin') this.#pinTries = PIN_TRIES;
    if (state === 'ready') this.#pukTries = PUK_TRIES;
    if (state === 'puk') this.#pinTries = 0;
  }

  /** The code of +CME ERROR that stands for the state; `undefined` when ready. */
  get cmeCode(): number | undefined {
    return this.#state === 'ready' ? undefined : CME_CODES[this.#state];
  }

  /** The same for +CMS ERROR. */
  get cmsCode(): number | undefined {
    return this.#state === 'ready' ? undefined : CMS_CODES[this.#state];
  }

  /** `AT+CPIN=<pin>`, or `AT+CPIN=<puk>,<new pin>`. */
  enter(code: string, newPin: string | undefined): Answer {
    if (this.#state === 'pin' && newPin === undefined) return this.#enterPin(code);
    if (this.#state === 'puk' && newPin !== undefined) return this.#enterPuk(code, newPin);
    return cme(this.cmeCode ?? CME.operationNotAllowed);
  }

  #enterPin(code: string): Answer {
    if (code === this.#pin) {
      this.setState('ready');
      return ok();
    }
    this.#pinTries -= 1;
    if (this.#pinTries === 0) this.#state = 'puk';
    return cme(CME.incorrectPassword);
  }

  #enterPuk(code: string, newPin: string): Answer {
    if (code === PUK && /^\d{4,8}$/.test(newPin)) {
      this.#pin = newPin;
      this.setState('ready');
      return ok();
    }
    this.#pukTries -= 1;
    if (this.#pukTries === 0) this.#state = 'failure';
    return cme(CME.incorrectPassword);
  }
}
