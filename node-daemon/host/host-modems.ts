// The modems of one host: its rack, and the watch of the USB devices that the rack finds them by.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Random } from '#shared/random.ts';
import type { CreateResampler } from '#shared/voice/resample.ts';
import type { OpenPort } from '../at/port.ts';
import type { LiveSimSettings } from '../config/live-sim-settings.ts';
import type { NodeConfig } from '../config/node-config.ts';
import type { DaemonSettings } from '../config/options.ts';
import type { Journal } from '../journal/journal.ts';
import { Modem, type ModemParts } from '../modem/modem.ts';
import { Rack, type RackParts, type RackSettings } from '../modem/rack.ts';
import { outsideSteps, recoveryLimits } from '../modem/recovery/outside-steps.ts';
import { HostClaims } from '../modem/sim/claims.ts';
import type { HangGuard } from '../system/hang-guard.ts';
import { UsbTreeReader } from '../usb/usb-tree.ts';
import { UsbWatch } from '../usb/usb-watch.ts';
import type { CallRegistry } from '../voice/call-registry.ts';
import { audioAccess } from './audio-access.ts';
import type { HostEvents } from './host-events.ts';

/** The parts of the host that its modems use. */
interface HostModemsParts {
  readonly openPort: OpenPort;
  readonly journal: Journal;
  readonly sims: LiveSimSettings;
  /** As in `HostParts`. */
  readonly mayWriteSettings: boolean;
  readonly calls: CallRegistry;
  readonly createResampler: CreateResampler;
  readonly events: HostEvents;
  readonly guard: HangGuard;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** The rack of one host, which gets the changes of the USB devices if it needs them. */
export class HostModems {
  readonly rack: Rack;
  readonly #parts: HostModemsParts;
  readonly #usb: UsbWatch;
  #isStarted = false;
  #isUsbWatched = false;
  #reconfigured: Promise<void> = Promise.resolve();

  constructor(settings: DaemonSettings, parts: HostModemsParts) {
    const { config, devRoot, sysfsRoot } = settings;
    const { clock, log } = parts;
    this.#parts = parts;
    const createModem = this.#modemFactory(settings);
    this.rack = new Rack({ ...rackSettings(config), devRoot, log, createModem });
    const tree = new UsbTreeReader(sysfsRoot);
    this.#usb = new UsbWatch({
      read: () => tree.read(),
      onChange: (devices) => this.rack.devicesChanged(devices),
      clock,
      log,
    });
  }

  /** Starts to use the modems. */
  start(): void {
    this.rack.start();
    this.#isStarted = true;
    this.#watchUsb();
  }

  /** Uses other slots and other values of SIM cards. Resolves when it is done; calls take turns. */
  reconfigure(next: Pick<NodeConfig, 'slots' | 'discover' | 'ignore' | 'sims'>): Promise<void> {
    const { events, sims } = this.#parts;
    // One that failed does not fail the next.
    this.#reconfigured = this.#reconfigured
      .catch(() => undefined)
      .then(async () => {
        sims.configure(next.sims);
        await this.rack.reconfigure(rackSettings(next));
        this.rack.simsChanged();
        this.#watchUsb();
        events.notify((observer) => observer.slotsChanged?.());
      });
    return this.#reconfigured;
  }

  /** Waits until the modems have sent their current messages, then closes their ports. */
  async stop(): Promise<void> {
    this.#usb.stop();
    await this.rack.stop();
  }

  #watchUsb(): void {
    if (this.#isUsbWatched || !this.#isStarted || !this.rack.wantsUsb) return;
    this.#isUsbWatched = true;
    this.#usb.start();
  }

  /** Returns the function that makes the modem of each slot. */
  #modemFactory({ config, sysfsRoot }: DaemonSettings): RackParts['createModem'] {
    const { calls, clock, createResampler, guard, journal, log, mayWriteSettings, openPort, random, sims } =
      this.#parts;
    const common = {
      openPort,
      journal,
      sims,
      mayWriteSettings,
      clock,
      random,
      carriers: config.carriers,
      hostClaims: new HostClaims(clock),
      limits: recoveryLimits(config.recovery),
      outside: outsideSteps(config, { sysfsRoot, clock, guard }),
      observer: this.#modemObserver(),
    };
    return (options) =>
      new Modem({
        ...common,
        ...options,
        telephonyAt: (place) => ({
          calls,
          createResampler,
          audioAccess: (voice) => audioAccess(place, voice, { clock, openPort, sysfsRoot }),
        }),
        log: log.child({ modem: options.place.usb?.path ?? options.slot }),
      });
  }

  #modemObserver(): ModemParts['observer'] {
    const { events } = this.#parts;
    return {
      onChange: () => {
        this.rack.rename();
        events.notify((observer) => observer.slotsChanged?.());
      },
      onOpen: ({ name }) => events.notify((observer) => observer.portOpened?.(name)),
      onStep: ({ name }, step, trouble) =>
        events.notify((observer) => observer.stepTaken?.(name, step, trouble)),
      onStepFailed: ({ name }, step, why) =>
        events.notify((observer) => observer.stepFailed?.(name, step, why)),
      onCommandEnd: ({ name }, end) => events.notify((observer) => observer.commandEnded?.(name, end)),
      onLoss: () => this.#usb.check(),
    };
  }
}

const rackSettings = ({
  discover,
  ignore,
  slots,
}: Pick<NodeConfig, 'slots' | 'discover' | 'ignore'>): RackSettings => ({
  slots,
  discover: discover ?? true,
  ignore,
});
