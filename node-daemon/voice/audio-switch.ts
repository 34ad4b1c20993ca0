// Turns the audio of a modem on and off with the commands of its make.
import { type Clock, sleep } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { ask } from '../at/ask.ts';
import type { AtChannel } from '../at/channel.ts';
import { atCommand } from '../at/command.ts';
import type { CardAudio, SerialAudio } from '../profiles/profile.ts';

/** SIM7600 accepts the command only some time after the call is answered, within 12 s (reports of users). */
const CONFIRM_MAX_MS = 12_000;
const CONFIRM_RETRY_MS = 500;
/** For makes that confirm only with the answer to the command. The dialing caller waits for it. */
const ACCEPT_MAX_MS = 1_000;

interface AudioSwitchParts {
  readonly channel: AtChannel;
  readonly clock: Clock;
  readonly log: Logger;
  readonly audio: SerialAudio | CardAudio;
  /** Called if the modem needed more than one attempt. Its audio may be choppy or silent until a restart. */
  readonly onDegraded: () => void;
}

/** When audio is turned on: before a call is dialed or answered, or after it is answered. */
type AudioMoment = 'dialing' | 'answer';

export class AudioSwitch {
  readonly #parts: AudioSwitchParts;
  #isOn = false;

  constructor(parts: AudioSwitchParts) {
    this.#parts = parts;
  }

  /** Rejects if the modem does not answer at all. */
  async on(moment: AudioMoment): Promise<void> {
    const { audio } = this.#parts;
    if (('from' in audio ? audio.from : 'dialing') !== moment || this.#isOn) return;
    this.#isOn = true;
    const isWanted = (): boolean => this.#isOn;
    for (let attempt = 1, waitedMs = 0; isWanted(); attempt += 1, waitedMs += CONFIRM_RETRY_MS) {
      if ((await this.#send(audio.on)) && (await this.#isConfirmed())) {
        if (attempt > 1) this.#parts.onDegraded();
        return;
      }
      if (waitedMs >= ('confirm' in audio ? CONFIRM_MAX_MS : ACCEPT_MAX_MS)) break;
      await sleep(this.#parts.clock, CONFIRM_RETRY_MS);
    }
    if (!isWanted()) return;
    this.#parts.log.warn({}, 'the modem did not turn its audio on');
    this.#parts.onDegraded();
  }

  async off(): Promise<void> {
    if (!this.#isOn) return;
    this.#isOn = false;
    await this.#send(this.#parts.audio.off);
  }

  /** Returns whether the last command was accepted. The earlier ones are optional. */
  async #send(lines: readonly string[]): Promise<boolean> {
    let isTaken = true;
    for (const line of lines)
      isTaken = (await ask(this.#parts.channel, atCommand(line), 'urgent')) !== undefined;
    return isTaken;
  }

  async #isConfirmed(): Promise<boolean> {
    const { audio, channel } = this.#parts;
    const confirm = 'confirm' in audio ? audio.confirm : undefined;
    if (confirm === undefined) return true;
    const lines = await ask(channel, atCommand(confirm.command, { answer: confirm.isOn }), 'urgent');
    return lines !== undefined && lines.length > 0;
  }
}
