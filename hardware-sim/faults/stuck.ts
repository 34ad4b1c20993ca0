// A modem that hangs until the client takes the step that cures it, or a stronger one.
import type { Clock, Timer } from '#shared/clock.ts';
import { OpenWatch } from '../pty/open-watch.ts';
import type { FaultOf, FaultSet } from './fault-set.ts';

/** Steps that cure a hanging modem, the weakest first. */
const STEPS = ['reopen', 'radio', 'restart', 'usb_reset'] as const;
export type CuringStep = FaultOf<'stuck'>['cured_by'];

/** How often we ask whether a port was opened again. */
const OPEN_CHECK_MS = 20;
/** Longest line that a hanging modem reads; a longer one is no restart command. */
const HEARD_CHARACTERS_MAX = 200;

const RESTART_COMMAND = /\+CFUN=1,1|\+CRESET|\^RESET/i;
const RADIO_OFF_COMMAND = /\+CFUN=[04]/i;
const RADIO_ON_COMMAND = /\+CFUN=1/i;

interface StuckOptions {
  faults: FaultSet;
  /** Real time: ports do not follow a clock that is moved by hand. */
  clock: Clock;
  /** Paths of the ports for commands, while they exist. */
  portPaths: () => readonly string[];
  /** Carries out a restart command, without an answer. */
  restart: () => void;
  onCured: (step: CuringStep) => void;
}

/** Does nothing as long as the fault `stuck` is not played. */
export class Stuck {
  readonly #options: StuckOptions;
  #watch: OpenWatch | undefined;
  #check: Timer | undefined;
  #heard = '';
  #wasRadioOff = false;

  constructor(options: StuckOptions) {
    this.#options = options;
  }

  /** It answers nothing. A modem that only lacks its radio does answer. */
  get isDeaf(): boolean {
    const cure = this.#cure;
    return cure !== undefined && cure !== 'radio';
  }

  get #cure(): CuringStep | undefined {
    return this.#options.faults.get('stuck')?.cured_by;
  }

  /** Ends the hang if this step cures it. */
  onStep(step: CuringStep): void {
    const cure = this.#cure;
    if (cure === undefined || STEPS.indexOf(step) < STEPS.indexOf(cure)) return;
    this.#options.faults.end('stuck');
    this.#options.onCured(step);
  }

  /** Bytes that came in while it is deaf: the processor behind the hanging one obeys a restart. */
  hear(bytes: Buffer): void {
    for (const character of bytes.toString('latin1')) {
      if (character === '\r') this.#hearLine();
      else if (this.#heard.length < HEARD_CHARACTERS_MAX) this.#heard += character;
    }
  }

  /** After faults have changed. */
  follow(): void {
    const isWatched = this.#cure === 'reopen';
    if (isWatched && this.#watch === undefined && this.#options.portPaths().length > 0) {
      this.#watch = new OpenWatch(this.#options.portPaths());
      this.#checkLater();
    }
    if (!isWatched) this.stop();
  }

  /** Ends the watch: the ports are gone, or the hang is over. */
  stop(): void {
    this.#check?.cancel();
    this.#watch?.close();
    this.#watch = undefined;
    this.#heard = '';
    this.#wasRadioOff = false;
  }

  #hearLine(): void {
    const line = this.#heard;
    this.#heard = '';
    if (RESTART_COMMAND.test(line) && this.#cure !== 'usb_reset') this.#options.restart();
    else if (RADIO_OFF_COMMAND.test(line)) this.#wasRadioOff = true;
    else if (RADIO_ON_COMMAND.test(line) && this.#wasRadioOff) this.onStep('radio');
  }

  #checkLater(): void {
    this.#check = this.#options.clock.after(OPEN_CHECK_MS, () => {
      if (this.#watch?.wasReopened() === true) this.onStep('reopen');
      else this.#checkLater();
    });
  }
}
