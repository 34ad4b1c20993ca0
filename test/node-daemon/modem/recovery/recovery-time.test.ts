// How long a stuck modem is away with the timings of production: the whole supervisor on a clock that runs fast.
import t, { type Test } from 'tap';
import type { Modem } from '#node-daemon/modem/modem.ts';
import type { Place } from '#node-daemon/slot/place.ts';
import { ManualClock } from '../../../fixtures/clocks/manual-clock.ts';
import { runUntil } from '../../../fixtures/clocks/running-clock.ts';
import { ScriptedModem, ScriptedPort } from '../../../fixtures/nodes/scripted-port.ts';
import { validIccid } from '../../../fixtures/nodes/valid-iccid.ts';
import { ScriptedHost } from '../scripted-host.ts';

const CURES = ['reopen', 'radio', 'restart', 'usb_reset'] as const;
type Cure = (typeof CURES)[number];

/** A modem may hang at any time between two signs of life, which are 30 s apart: these are 10 of them. */
const PHASES = 10;
const PHASE_MS = 3_000;
/** Until the device is back on the bus after a restart; users report 5 to 15 s. */
const BOOT_MS = 10_000;
const REPLUG_MS = 1_500;
const USB_ID = { vendor: '2c7c', product: '0125' };

/** A modem of a USB device with two AT ports, which hangs until its cure comes. */
class StuckDevice {
  readonly modem: Modem;
  readonly usbPath: string;
  readonly #host: ScriptedHost;
  readonly #clock: ManualClock;
  readonly #device = new ScriptedModem();
  #stuckUntil: Cure | undefined;
  #port: ScriptedPort | undefined;
  #replugs = 0;
  #hasRadioOff = false;

  constructor(host: ScriptedHost, clock: ManualClock, index: number) {
    this.#host = host;
    this.#clock = clock;
    this.#device.iccid = validIccid(index);
    this.usbPath = `1-${index + 1}`;
    this.modem = host.create({
      slot: this.usbPath,
      place: this.#appear(),
      outside: { resetUsb: async () => this.#replug('usb_reset', REPLUG_MS) },
    });
  }

  hang(until: Cure): void {
    this.#stuckUntil = until;
    this.#hasRadioOff = false;
    if (this.#port !== undefined) this.#deafen(this.#port);
  }

  /** The numbers of its ports change each time. */
  #appear(): Place {
    this.#replugs += 1;
    const ports = [2, 3].map((number) => `/dev/${this.usbPath}-${this.#replugs}-${number}`);
    for (const path of ports) this.#host.plug(path, () => this.#open());
    return { ports, usb: { path: this.usbPath, id: USB_ID } };
  }

  #open(): ScriptedPort {
    // The other port of a modem that is served is only checked.
    if (this.#port?.closed === false) return new ScriptedPort();
    if (this.#stuckUntil === 'reopen') this.#stuckUntil = undefined;
    const port = this.#device.plug();
    if (this.#stuckUntil !== undefined) this.#deafen(port);
    this.#port = port;
    return port;
  }

  /** It answers nothing, but the processor behind it takes its commands. */
  #deafen(port: ScriptedPort): void {
    port.on(/(?:)/, () => undefined);
    port.on(/^AT\+CFUN=0$/, () => {
      this.#hasRadioOff = true;
      return undefined;
    });
    port.on(/^AT\+CFUN=1$/, () => {
      if (this.#hasRadioOff && this.#stuckUntil === 'radio') this.#stuckUntil = undefined;
      return undefined;
    });
    port.on(/^AT\+CFUN=1,1$/, () => {
      if (this.#stuckUntil !== 'usb_reset') this.#replug('restart', BOOT_MS);
      return undefined;
    });
  }

  #replug(cure: Cure, awayMs: number): void {
    if (CURES.indexOf(cure) >= CURES.indexOf(this.#stuckUntil ?? 'reopen')) this.#stuckUntil = undefined;
    this.modem.move(undefined);
    this.#port?.hangUp();
    this.#clock.after(awayMs, () => this.modem.move(this.#appear()));
  }
}

async function setUp(t: Test, count: number) {
  const clock = new ManualClock();
  const host = await ScriptedHost.start(t, clock);
  const devices = Array.from({ length: count }, (_, index) => new StuckDevice(host, clock, index));
  const areServed = () => devices.every(({ modem }) => modem.slot.state === 'registered');
  for (const { modem } of devices) modem.start();
  await runUntil('service', areServed, { clock, limitMs: 60_000 });
  // Well for long enough that nothing is left of the start.
  await runUntil('two minutes', timeOf(clock, 120_000), { clock, limitMs: 200_000, stepMs: 500 });
  return { areServed, clock, devices, host };
}

function timeOf(clock: ManualClock, ms: number): () => boolean {
  const end = clock.now() + ms;
  return () => clock.now() >= end;
}

t.test('p95 of all that can cure a stuck modem, at any moment, is below 90 s', async (t) => {
  const awayMs: number[] = [];
  for (const cure of CURES) {
    const { clock, devices, host } = await setUp(t, PHASES);
    const since = new Map<StuckDevice, number>();
    const times: number[] = [];
    const areAllBack = (): boolean => {
      for (const [device, at] of since) {
        if (device.modem.slot.state !== 'registered') continue;
        if (!host.steps.some((step) => step.startsWith(`${device.modem.name} `))) continue;
        since.delete(device);
        times.push(clock.now() - at);
      }
      return since.size === 0;
    };
    for (const device of devices) {
      device.hang(cure);
      since.set(device, clock.now());
      const isPhaseOver = timeOf(clock, PHASE_MS);
      await runUntil('a phase', () => !areAllBack() && isPhaseOver(), { clock, limitMs: 10_000 });
    }
    await runUntil(cure, areAllBack, { clock, limitMs: 300_000 });
    const worst = Math.max(...times);
    t.comment(`${cure}: ${(Math.min(...times) / 1000).toFixed(0)} to ${(worst / 1000).toFixed(0)} s`);
    const strongest = host.steps.filter((step) => step.startsWith('1-1 ')).at(-1);
    t.match(strongest, ` ${cure} `, 'nothing stronger was done than what cures');
    awayMs.push(...times);
  }
  awayMs.sort((one, other) => one - other);
  const p95 = awayMs[Math.ceil(awayMs.length * 0.95) - 1] ?? Number.POSITIVE_INFINITY;
  t.equal(awayMs.length, CURES.length * PHASES);
  t.comment(`p95 ${(p95 / 1000).toFixed(0)} s, longest ${((awayMs.at(-1) ?? 0) / 1000).toFixed(0)} s`);
  t.ok(p95 < 90_000);
});
