// The interface of a modem's audio device: octets of S16LE, mono, at the modem's own pace.

/** Both directions of one call's audio. */
export interface PcmDevice {
  /** Sets the handler of the modem's audio. Set once. */
  onAudio(handler: (octets: Uint8Array) => void): void;
  /** Sets the handler that is called once after the last audio. */
  onClose(handler: (reason: Error) => void): void;
  /** Returns false if the modem does not accept the audio now. The audio is then discarded. */
  write(octets: Uint8Array): boolean;
  /** Number of underruns and overruns of the sound card. */
  readonly xruns: number;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Opens a modem's audio. Rejects with the system's error. */
export type OpenPcm = () => Promise<PcmDevice>;
