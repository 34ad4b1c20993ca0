// A host in memory: device paths with scripted modems behind them, and supervisors made for them.
import type { Test } from 'tap';
import type { Port } from '#node-daemon/at/port.ts';
import { DEFAULT_CARRIER_SETTINGS, NO_SIM_SETTINGS } from '#node-daemon/config/node-config.ts';
import { Journal } from '#node-daemon/journal/journal.ts';
import { Modem, type ModemParts } from '#node-daemon/modem/modem.ts';
import { Rack, type RackParts } from '#node-daemon/modem/rack.ts';
import type { RecoveryLimits } from '#node-daemon/modem/recovery/recovery.ts';
import { HostClaims } from '#node-daemon/modem/sim/claims.ts';
import { type Clock, systemClock } from '#shared/clock.ts';
import { silentLogger } from '#shared/log.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const LIMITS: RecoveryLimits = { radio: 6, restart: 4, usb_reset: 3, power_cycle: 2 };

/** Makes modems whose ports are opened by path; all end with the test. */
export class ScriptedHost {
  readonly journal: Journal;
  readonly clock: Clock;
  /** Every step of every modem, as "<slot> <step> <trouble>". */
  readonly steps: string[] = [];
  /** Paths that were opened, in order. */
  readonly opened: string[] = [];
  readonly #devices = new Map<string, () => Port>();
  readonly #modems: Modem[] = [];
  readonly #hostClaims: HostClaims;
  onChange: () => void = () => undefined;
  onLoss: () => void = () => undefined;

  private constructor(journal: Journal, clock: Clock) {
    this.journal = journal;
    this.clock = clock;
    this.#hostClaims = new HostClaims(clock);
  }

  static async start(t: Test, clock: Clock = systemClock): Promise<ScriptedHost> {
    const folder = temporaryFolder(t);
    const journal = await Journal.open({ folder, clock: systemClock, log: silentLogger });
    const host = new ScriptedHost(journal, clock);
    t.teardown(async () => {
      for (const modem of host.#modems) await modem.stop();
      await journal.close();
    });
    return host;
  }

  /** `open` gives the port, or throws what opening it throws. */
  plug(path: string, open: () => Port): void {
    this.#devices.set(path, open);
  }

  unplug(path: string): void {
    this.#devices.delete(path);
  }

  /** A rack without slots, for any modem. */
  rack(parts: Partial<RackParts>): Rack {
    return new Rack({
      slots: [],
      discover: true,
      ignore: [],
      devRoot: '/dev',
      log: silentLogger,
      createModem: (options) => this.create(options),
      ...parts,
    });
  }

  create(parts: Pick<ModemParts, 'slot'> & Partial<ModemParts>): Modem {
    const modem = new Modem({
      random: Math.random,
      journal: this.journal,
      sims: NO_SIM_SETTINGS,
      carriers: DEFAULT_CARRIER_SETTINGS,
      mayWriteSettings: false,
      hostClaims: this.#hostClaims,
      clock: this.clock,
      log: silentLogger,
      limits: LIMITS,
      outside: {},
      admits: () => true,
      openPort: async (path) => this.#open(path),
      observer: {
        onChange: () => this.onChange(),
        onOpen: () => undefined,
        onStep: ({ name }, step, trouble) => this.steps.push(`${name} ${step} ${trouble}`),
        onCommandEnd: () => undefined,
        onLoss: () => this.onLoss(),
      },
      ...parts,
    });
    this.#modems.push(modem);
    return modem;
  }

  #open(path: string): Port {
    const open = this.#devices.get(path);
    if (open === undefined) throw Object.assign(new Error(`${path}: no such device`), { code: 'ENOENT' });
    this.opened.push(path);
    return open();
  }
}

/** Waits until the slot has a state. */
export function reaches(modem: Modem, state: string): Promise<unknown> {
  return until(`${modem.name} ${state}`, () => modem.slot.state === state);
}
