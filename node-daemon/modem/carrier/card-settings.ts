// Keeps the settings for calls of one modem right for its card, and restarts the modem for them when it is idle.
import type { SlotReport } from '../../slot/slot-record.ts';
import { restartWhenIdle, type Traffic } from './idle-restart.ts';
import {
  applyVoiceSettings,
  recordRestart,
  type VoiceSettingsParts,
  type VoiceSettingsResult,
} from './voice-settings.ts';

/** The parts that the settings of one card use. */
interface CardSettingsParts extends VoiceSettingsParts {
  readonly report: (report: SlotReport) => void;
  /** Ends the session too. */
  readonly restart: (why: string) => Promise<void>;
}

/** The settings for calls on the network of one card. */
export class CardSettings {
  readonly #parts: CardSettingsParts;
  #next: VoiceSettingsResult['next'] = 'done';

  constructor(parts: CardSettingsParts) {
    this.#parts = parts;
  }

  /** Does the first step, or the one that had to wait for the end of a call. Rejects with `AtTimeoutError` and `PortClosedError`. */
  async apply(traffic: Traffic): Promise<void> {
    if (this.#next !== 'restart') {
      const { next, report } = await applyVoiceSettings(this.#parts);
      this.#next = next;
      this.#parts.report({ voice_settings: report });
    }
    if (this.#next !== 'restart') return;
    const restart = (): Promise<void> =>
      this.#parts.restart('settings for calls on the network of the card were changed');
    await restartWhenIdle({ ...this.#parts, prepare: () => recordRestart(this.#parts), restart }, traffic);
  }

  /** As `apply`, if a step waits and there is no call. */
  async applyRest(traffic: Traffic): Promise<void> {
    if (this.#next !== 'done' && traffic.telephone?.isBusy !== true) await this.apply(traffic);
  }
}
