// A far end in a call: when it rings, answers, refuses and hangs up.
import type { Clock, Timer } from '#shared/clock.ts';
import type { Call, Side } from './call.ts';
import type { CallLeg } from './call-leg.ts';
import { CAUSE } from './cause.ts';
import type { FarEndSettings } from './far-end-settings.ts';
import { FarEndVoice } from './far-end-voice.ts';

interface FarEndOptions {
  call: Call;
  side: Side;
  settings: FarEndSettings;
  clock: Clock;
  now: () => number;
}

/** The side of a number that is no modem. */
export class FarEnd implements CallLeg {
  readonly imei = null;
  readonly audio = undefined;
  readonly voice: FarEndVoice;
  readonly #options: FarEndOptions;
  #next: Timer | undefined;

  /** Throws as `FarEndVoice`. */
  constructor(options: FarEndOptions) {
    this.#options = options;
    const { settings, call, now } = options;
    this.voice = new FarEndVoice(settings, { callId: call.id, now });
  }

  /** Starts a far end that is called: it rings and answers as its settings say. */
  start(): void {
    const { settings, call } = this.#options;
    const { answer, alerting_ms: alertingMs } = settings;
    const refuses = answer === 'busy' || answer === 'reject';
    if (refuses && alertingMs === undefined) {
      this.#refuseLater();
      return;
    }
    this.#after(alertingMs ?? 0, () => {
      call.alert();
      if (refuses) this.#refuseLater();
      else if (answer === 'no_answer') this.#giveUpLater();
      else this.#after(settings.after_ms, () => call.answer());
    });
  }

  onAlerting(): void {
    // A far end that calls a modem has nothing to do until the modem answers.
  }

  onAnswered(): void {
    const { settings, call, side } = this.#options;
    this.#next?.cancel();
    if (settings.hangup_after_ms === undefined) return;
    this.#after(settings.hangup_after_ms, () => call.end(side, settings.cause ?? CAUSE.normalClearing));
  }

  onEnded(): void {
    this.#next?.cancel();
    this.voice.close();
  }

  onDtmf(): void {
    // The far end hears the tones, and an event reports the key.
  }

  #refuseLater(): void {
    const { settings, call, side } = this.#options;
    const usual = settings.answer === 'busy' ? CAUSE.userBusy : CAUSE.callRejected;
    this.#after(settings.after_ms, () => call.end(side, settings.cause ?? usual));
  }

  #giveUpLater(): void {
    const { settings, call } = this.#options;
    this.#after(settings.no_answer_ms, () => call.end('network', settings.cause ?? CAUSE.noAnswer));
  }

  #after(delayMs: number, step: () => void): void {
    this.#next = this.#options.clock.after(delayMs, step);
  }
}
