// A rack whose modems are plugged in, pulled out, and moved, with their SIMs.
import type { Test } from 'tap';
import type { Port } from '#node-daemon/at/port.ts';
import type { NamedSlot } from '#node-daemon/config/node-config.ts';
import type { Rack, RackParts } from '#node-daemon/modem/rack.ts';
import type { UsbDevice } from '#node-daemon/usb/usb-device.ts';
import type { Clock } from '#shared/clock.ts';
import { lines, ScriptedModem } from '../../fixtures/nodes/scripted-port.ts';
import { until } from '../../fixtures/until.ts';
import { ScriptedHost } from './scripted-host.ts';

export const IMEIS = ['350000000000017', '350000000000025', '350000000000033'] as const;
export const ICCIDS = ['8901000000000000017', '8901000000000000025', '8901000000000000033'] as const;

/** A modem that can be plugged in anywhere, with a SIM that can be put into another. */
export class TravellingModem {
  readonly device = new ScriptedModem();
  readonly imei: string;
  cpin = '+CPIN: READY';

  constructor(index: number) {
    this.imei = IMEIS[index] ?? '';
    this.device.iccid = ICCIDS[index] ?? '';
  }

  open(): Port {
    return this.device
      .plug()
      .on(/^AT\+CGSN$/, lines(this.imei, 'OK'))
      .on(/^AT\+CPIN\?$/, () => lines(this.cpin, 'OK'));
  }
}

/** A USB bus in memory: numbers of the ports go up and up. */
class Bus {
  readonly #host: ScriptedHost;
  readonly #rack: Rack;
  readonly #devices = new Map<string, UsbDevice>();
  #tty = 0;

  constructor(host: ScriptedHost, rack: Rack) {
    this.#host = host;
    this.#rack = rack;
  }

  plug(usbPath: string, modem: TravellingModem, id = { vendor: '2c7c', product: '0125' }): void {
    const ttys = [0, 1, 2, 3].map(() => `ttyUSB${this.#tty++}`);
    const interfaces = ttys.map((tty, number) => ({ number, class: 'ff', tty }));
    this.#host.plug(`/dev/${ttys[2]}`, () => modem.open());
    this.add({ usbPath, id, interfaces });
  }

  add(device: UsbDevice): void {
    this.#devices.set(device.usbPath, device);
    this.#report();
  }

  unplug(usbPath: string, modem?: TravellingModem): void {
    for (const { tty } of this.#devices.get(usbPath)?.interfaces ?? []) this.#host.unplug(`/dev/${tty}`);
    this.#devices.delete(usbPath);
    modem?.device.port.hangUp();
    this.#report();
  }

  #report(): void {
    this.#rack.devicesChanged([...this.#devices.values()]);
  }
}

/** A rack without modems, and three of them that can be plugged in. */
export async function setUpRack(
  t: Test,
  slots: readonly NamedSlot[] = [],
  parts: Partial<RackParts> = {},
  clock?: Clock,
) {
  const host = await ScriptedHost.start(t, clock);
  const rack = host.rack({ slots, ...parts });
  host.onChange = () => rack.rename();
  rack.start();
  const bus = new Bus(host, rack);
  const modems = IMEIS.map((_, index) => new TravellingModem(index));
  /** Waits until the slots in service have these modems, as "name imei". */
  const served = (...wanted: string[]) =>
    until(`served: ${wanted.join(', ')}`, () => {
      const now = rack
        .slots()
        .filter(({ state }) => state === 'registered')
        .map(({ slot, device_id: imei }) => `${slot} ${IMEIS.indexOf(imei as (typeof IMEIS)[number])}`);
      return JSON.stringify(now.sort()) === JSON.stringify([...wanted].sort());
    });
  return { bus, host, modems: modems as [TravellingModem, TravellingModem, TravellingModem], rack, served };
}

/** "1-1.2 registered null" of each slot. */
export const namesOf = (rack: Rack) =>
  rack.slots().map(({ slot, state, reason }) => `${slot} ${state} ${reason}`);
