// A rack of simulated modems with a carrier behind it: composition, start, stop. Tests start it in process.
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Clock, systemClock } from '#shared/clock.ts';
import { type Logger, silentLogger } from '#shared/log.ts';
import { lockFolder } from '#shared/process/single-instance.ts';
import { type Random, systemRandom } from '#shared/random.ts';
import { SoundCards } from './alsa/sound-cards.ts';
import { audioTime, FrameClock } from './audio/frame-clock.ts';
import { DEFAULT_BEHAVIORS } from './behaviors/default-behaviors.ts';
import { CallSwitch } from './calls/call-switch.ts';
import { Carrier } from './carrier/carrier.ts';
import { modemIdentityOf, NETWORK_CODE, simIdentityOf } from './equipment/identity.ts';
import { type Capacities, USUAL_CAPACITIES } from './equipment/message-stores.ts';
import { answersOf, type Rack } from './http/routes.ts';
import { type HttpServer, startServer } from './http/server.ts';
import { MAKES } from './makes/all-makes.ts';
import type { MakeName } from './makes/make.ts';
import { SimulatedModem } from './modem/modem.ts';
import type { ModemOptions, ModemTraits } from './modem/modem-options.ts';
import { SimCards } from './modem/sim-cards.ts';
import { EventFeed } from './state/event-feed.ts';
import { RackJournal } from './state/rack-journal.ts';
import { UsbBus } from './usb/usb-bus.ts';
import type { UsbControllerName } from './usb/usb-controller.ts';
import { usbPathOf } from './usb/usb-path.ts';

const STATE_FILE = 'rack.jsonl';
/** The serial number of identical devices, as SIMCom modems have it. */
const COMMON_SERIAL = '0123456789ABCDEF';
/** Links of an earlier run, the temporary ones of a killed run included. */
const LINK_NAME = /^[a-z][a-z0-9]*-(at|at2|pcm)(\.new)?$/;

/** How large a rack, and where. */
export interface SimulatorOptions extends Partial<Omit<ModemTraits, 'capacities'>> {
  /** 1 to 256. */
  modems: number;
  /** Position of its first modem among those of all racks: equal positions have equal identities. */
  firstModem?: number;
  /** Folder of the links and the state; made when missing. */
  dir: string;
  /** Port of the HTTP interface; 0 takes a free one. */
  port?: number;
  /** Given to the slots in turn; all Quectel when missing. */
  makes?: readonly MakeName[];
  /** Slots of the stores. */
  capacities?: Partial<Capacities>;
  /** All devices show the same serial number, as cheap sticks do. */
  identicalSerials?: boolean;
  /** The host controller of each bus. Default: one whose limits are not known. */
  usbController?: UsbControllerName;
  /** Messages of the modems that are kept for `GET /sms`, and in the state file. */
  keep?: number;
  /** Events that are kept for clients that come back. */
  keepEvents?: number;
  /** Calls that are kept for `GET /calls`. */
  keepCalls?: number;
  /** How long a modem rings before the network gives up. */
  noAnswerMs?: number;
  clock?: Clock;
  random?: Random;
  /** Clock of the voice: never set back, and with fractions of milliseconds. */
  audioClock?: Clock;
  log?: Logger;
}

/** Defaults of the options. */
export const SIMULATOR_DEFAULTS = {
  firstModem: 0,
  sendDelayMs: 0,
  storageFirstMs: 0,
  bootMs: 3000,
  messagingAfterMs: 0,
  keep: 10_000,
  keepEvents: 20_000,
  keepCalls: 1000,
  ringIntervalMs: 3000,
  noAnswerMs: 30_000,
  isVolte: true,
  usbAudio: false,
  pcmRateHz: 8000,
  homeNetwork: NETWORK_CODE,
} as const;

export interface Simulator {
  /** URL of the HTTP interface. */
  url: string;
  /** Absolute. */
  dir: string;
  modems: readonly SimulatedModem[];
  /** All SIM cards, wherever they are. */
  simCards: SimCards;
  carrier: Carrier;
  calls: CallSwitch;
  feed: EventFeed;
  /** Hangs up all ports and removes their links. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Starts a rack. Rejects with `FolderInUseError` when another simulator uses the folder, or with a system error.
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const dir = resolve(options.dir);
  const unlock = await lockFolder(dir, 'hardware-sim');
  try {
    removeStaleLinks(dir);
    return await start(dir, unlock, options);
  } catch (cause) {
    await unlock();
    throw cause;
  }
}

function removeStaleLinks(dir: string): void {
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    if (LINK_NAME.test(name) && lstatSync(path).isSymbolicLink()) rmSync(path);
  }
}

async function start(
  dir: string,
  unlock: () => Promise<void>,
  options: SimulatorOptions,
): Promise<Simulator> {
  const bus = new UsbBus(dir, systemClock, options.usbController ?? 'qemu');
  bus.open();
  const soundCards = new SoundCards(dir);
  soundCards.open();
  const { journal, ...rack } = createRack(dir, options, { bus, soundCards });
  const { modems, simCards, carrier, calls, feed } = rack;
  const answers = answersOf(rack);
  let server: HttpServer | undefined;
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (isStopped) return;
    isStopped = true;
    carrier.close();
    calls.close();
    answers.close();
    await server?.close();
    for (const modem of modems) modem.switchOff();
    bus.close();
    soundCards.close();
    journal.close();
    await unlock();
  };
  try {
    for (const modem of modems) modem.power.plugIn();
    server = await startServer(answers, options.port ?? 0, options.log ?? silentLogger);
  } catch (cause) {
    await stop();
    throw cause;
  }
  return { url: server.url, dir, modems, simCards, carrier, calls, feed, stop };
}

/** The modems, not plugged in yet, with their SIM cards and the network around them. */
function createRack(
  dir: string,
  options: SimulatorOptions,
  devices: Pick<ModemOptions, 'bus' | 'soundCards'>,
): Rack & { journal: RackJournal } {
  const { clock = systemClock, random = systemRandom, log = silentLogger } = options;
  const traits = {
    ...SIMULATOR_DEFAULTS,
    ...options,
    capacities: { ...USUAL_CAPACITIES, ...options.capacities },
  };
  const { firstModem, homeNetwork } = traits;
  const journal = RackJournal.open(join(dir, STATE_FILE), log, traits.keep);
  const feed = new EventFeed(() => clock.now(), traits.keepEvents);
  const { publish } = feed;
  const carrier = new Carrier({ journal, clock, log, publish });
  const calls = new CallSwitch({
    clock,
    now: audioTime.now,
    log,
    publish,
    keep: traits.keepCalls,
    noAnswerMs: traits.noAnswerMs,
    subscriberOf: (number) => {
      const subscriber = carrier.subscriberOf(number);
      return subscriber === null ? null : subscriber?.voice;
    },
  });
  const modems = createModems(options, {
    ...devices,
    traits,
    linkFolder: dir,
    journal,
    carrier,
    callSwitch: calls,
    frameClock: new FrameClock(options.audioClock ?? audioTime),
    random,
    clock,
    portClock: systemClock,
    log,
    publish,
    behaviors: DEFAULT_BEHAVIORS,
  });
  const simCards = new SimCards(
    modems.map((_, index) => simIdentityOf(firstModem + index, homeNetwork)),
    { modems, journal, carrier, firstModem },
  );
  return { modems, simCards, carrier, feed, calls, homeNetwork, journal };
}

/** The modems of the rack, not plugged in yet. `rack`: what all of them share. */
function createModems(
  {
    modems: count,
    firstModem = SIMULATOR_DEFAULTS.firstModem,
    makes = ['quectel'],
    identicalSerials = false,
  }: SimulatorOptions,
  rack: Omit<ModemOptions, 'identity' | 'make' | 'usbPath' | 'usbSerial' | 'isNameTaken'>,
): SimulatedModem[] {
  const modems = Array.from(
    { length: count },
    (_, index): SimulatedModem =>
      new SimulatedModem({
        ...rack,
        identity: modemIdentityOf(firstModem + index),
        make: MAKES[makes[index % makes.length] ?? 'quectel'],
        usbPath: usbPathOf(index),
        usbSerial: identicalSerials ? COMMON_SERIAL : serialOf(firstModem + index),
        isNameTaken: (name) =>
          modems.some(
            (other, position) => position !== index && [other.identity.slot, other.linkName].includes(name),
          ),
      }),
  );
  return modems;
}

/** Eight hex digits, as many devices have them. */
function serialOf(index: number): string {
  return (0xa5c0_0000 + index).toString(16);
}
