// Voice settings that a modem keeps without power.
import type { SampleRateHz } from '../audio/frame.ts';

/** Kept as long as the simulator runs. */
export interface StoredVoiceSettings {
  /** It has a sound card on the bus, from its next start on. */
  usbAudio: boolean;
  /** Of its samples, from its next start on. */
  nextRateHz: SampleRateHz;
  /** In use since its last start. */
  rateHz: SampleRateHz;
}
