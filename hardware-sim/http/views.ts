// Modems and messages as JSON.
import type { SimulatedModem } from '../modem/modem.ts';
import type { HeardMessage } from '../state/rack-state.ts';

/** A modem as `GET /modems` shows it. */
export function modemView(modem: SimulatedModem): Record<string, unknown> {
  const { slot, imei, iccid, imsi, number } = modem.identity;
  const usage = (memory: 'SM' | 'ME') => ({
    used: modem.stores.used(memory),
    total: modem.stores.capacity(memory),
  });
  return {
    slot,
    imei,
    iccid,
    imsi,
    number,
    make: modem.make.name,
    usb: modem.usb,
    ports: modem.portPaths,
    state: modem.state,
    stores: { SM: usage('SM'), ME: usage('ME') },
    faults: modem.faults.list(),
  };
}

/** A message as `GET /sms` shows it. */
export function messageView(message: HeardMessage): Record<string, unknown> {
  const { id, at_ms: atMs, ...fields } = message;
  return { id, at: new Date(atMs).toISOString(), ...fields };
}
