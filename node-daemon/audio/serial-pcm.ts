// Audio on a serial port of its own, apart from the command port.
import type { OpenPort } from '../at/port.ts';
import type { PcmDevice } from './pcm-device.ts';

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
