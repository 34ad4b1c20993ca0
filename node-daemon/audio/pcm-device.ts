// The interface of a modem's audio device, octets of S16LE, mono, at the modem's own pace, and its form on a serial port of its own.
import type { OpenPort } from '../at/port.ts';

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

/** Octets that may wait in the port: 60 ms at 16 kHz. More means that the modem accepts none. */
const WAITING_OCTETS_MAX = 3 * 640;

/** Opens the port at a device path. Rejects with the system's error. */
export async function openSerialPcm(openPort: OpenPort, path: string): Promise<PcmDevice> {
  const port = await openPort(path);
  let waiting = 0;
  return {
    xruns: 0,
    onAudio: (handler) => port.onData(handler),
    onClose: (handler) => port.onClose(handler),
    write(octets) {
      if (waiting + octets.length > WAITING_OCTETS_MAX) return false;
      waiting += octets.length;
      port.write(octets).then(
        () => {
          waiting -= octets.length;
        },
        // The port reports its close through its own handler.
        () => undefined,
      );
      return true;
    },
    close: () => port.close(),
  };
}
