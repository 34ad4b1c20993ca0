// The telephone in a modem: its calls, their voice, and the sound card that some modems have.
import type { Random } from '#shared/random.ts';
import type { SampleRateHz } from '../audio/frame.ts';
import type { FrameClock } from '../audio/frame-clock.ts';
import type { Call } from '../calls/call.ts';
import type { CallSwitch, VoiceSubscriber } from '../calls/call-switch.ts';
import { CallControl, type CallControlOptions } from './call-control.ts';
import { HostAudio, type HostAudioOptions, type HostDevice } from './host-audio.ts';
import { IdleSentences } from './idle-sentences.ts';
import type { MakeVoice, StoredVoiceSettings } from './make-voice.ts';
import type { ModemCall } from './modem-call.ts';

/** How the calls of a rack are, unless a fault says otherwise. */
export interface VoiceTraits {
  /** From one RING to the next. */
  ringIntervalMs: number;
  /** Calls go over LTE, where voice has 16 kHz. */
  isVolte: boolean;
  /** Modems that can have a sound card begin with it. */
  usbAudio: boolean;
  /** Initial sample rate of modems that can change theirs. */
  pcmRateHz: SampleRateHz;
}

interface VoiceOptions
  extends Omit<CallControlOptions, 'ringIntervalMs' | 'onActiveChanged'>,
    Pick<HostAudioOptions, 'frameClock' | 'random'> {
  make: MakeVoice;
  traits: VoiceTraits;
  /** The serial port of the voice, while it is there. */
  port: () => HostDevice | undefined;
  /** The sound card, while it is there. */
  card: () => HostDevice | undefined;
}

/** The parts of the rack that the voice of all modems shares. */
export interface VoiceNetwork {
  callSwitch: CallSwitch;
  frameClock: FrameClock;
  random: Random;
}

/** One for each modem. */
export class Voice implements VoiceSubscriber {
  readonly calls: CallControl;
  readonly hostAudio: HostAudio;
  readonly stored: StoredVoiceSettings;
  readonly #options: VoiceOptions;
  readonly #sentences: IdleSentences;

  constructor(options: VoiceOptions) {
    const { make, traits, settings, port, card } = options;
    this.#options = options;
    this.stored = {
      usbAudio: traits.usbAudio,
      nextRateHz: traits.pcmRateHz,
      rateHz: traits.pcmRateHz,
    };
    this.hostAudio = new HostAudio({
      ...options,
      make: make.audio,
      rateHz: () => make.audio.rateHz({ settings: settings(), stored: this.stored, isVolte: traits.isVolte }),
      device: (route) => (route === 'serial' ? port() : card()),
      sendUrc: (line) => options.sendUrc(line),
    });
    this.#sentences = new IdleSentences({
      ...options,
      isMixed: () => make.audio.mixesNmea(settings()),
    });
    this.calls = new CallControl({
      ...options,
      ringIntervalMs: traits.ringIntervalMs,
      onActiveChanged: (call) => {
        this.hostAudio.follow(call);
        this.#sentences.follow(call !== undefined);
      },
    });
  }

  offer(call: Call): ModemCall | 'busy' | 'absent' {
    return this.calls.offer(call);
  }

  /** The modem lost its volatile state: its calls end, without lines at its ports. */
  restart(): void {
    this.calls.drop({ isReported: false });
    this.hostAudio.restart();
    this.stored.rateHz = this.stored.nextRateHz;
  }

  /** The card or the network may be gone. */
  onConditionsChanged(): void {
    this.#sentences.follow(this.calls.active !== undefined);
    if (!this.#options.isInService()) this.calls.drop({ isReported: true });
  }
}
