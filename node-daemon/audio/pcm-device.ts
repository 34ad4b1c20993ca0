// Where the audio of a modem comes from and goes to: octets of S16LE, mono, at the modem's own pace.

/** The two ways of one call. */
export interface PcmDevice {
  /** Sets the handler of the modem's audio. Set once. */
  onAudio(handler: (octets: Uint8Array) => void): void;
  /** Sets the handler that is called once when no more audio comes. */
  onClose(handler: (reason: Error) => void): void;
  /** False when the modem does not take it now: it is not kept. */
  write(octets: Uint8Array): boolean;
  /** Times that a sound card ran dry or over. */
  readonly xruns: number;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Opens the audio of a modem. Rejects with the system's error. */
export type OpenPcm = () => Promise<PcmDevice>;
