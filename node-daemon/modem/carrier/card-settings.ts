// Keeps the settings for calls of one modem right for its card, and restarts the modem for them when it is idle.
import { AtTimeoutError } from '../../at/at-error.ts';
import type { SlotReport } from '../../slot/slot-record.ts';
import { listCalls } from '../../voice/call-list.ts';
import type { Telephone } from '../../voice/telephone.ts';
import { betweenMessages } from '../sms/between-messages.ts';
import type { SmsOutbox } from '../sms/sms-outbox.ts';
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

/** The traffic of the card, which a restart must not interrupt; both `undefined` before it begins. */
interface Traffic {
  readonly outbox: SmsOutbox | undefined;
  readonly telephone: Telephone | undefined;
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
    if (this.#next === 'restart') await this.#restartUnlessBusy(traffic);
  }

  /** As `apply`, if a step waits and there is no call. */
  async applyRest(traffic: Traffic): Promise<void> {
    if (this.#next !== 'done' && traffic.telephone?.isBusy !== true) await this.apply(traffic);
  }

  /** Restarts the modem between two messages, and never during a call: the next poll tries again. */
  async #restartUnlessBusy({ outbox, telephone }: Traffic): Promise<void> {
    const { channel, clock, log, restart } = this.#parts;
    try {
      const release = await betweenMessages(clock, outbox);
      try {
        const calls = await listCalls(channel);
        if (calls.length > 0 || telephone?.isBusy === true) return;
        await recordRestart(this.#parts);
        await restart('settings for calls on the network of the card were changed');
      } finally {
        release();
      }
    } catch (error) {
      if (!(error instanceof AtTimeoutError)) log.warn({ err: error }, 'the modem is not restarted yet');
    }
  }
}
