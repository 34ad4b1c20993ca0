// The simulator's options.
import * as z from 'zod';
import {
  booleanOption,
  integerOption,
  LOG_FORMAT_OPTION,
  LOG_LEVEL_OPTION,
} from '#shared/process/options.ts';
import { USUAL_CAPACITIES } from './equipment/message-stores.ts';
import { MAKE_NAMES } from './makes/make.ts';
import { SIMULATOR_DEFAULTS } from './simulator.ts';
import { USB_CONTROLLERS } from './usb/usb-controller.ts';

const makesOption = z
  .string()
  .default('quectel')
  .transform((text) => text.split(','))
  .pipe(z.array(z.enum(MAKE_NAMES, { error: `must be a list of ${MAKE_NAMES.join(', ')}` })));

const rateOption = z
  .enum(['8000', '16000'], { error: 'must be 8000 or 16000' })
  .default('8000')
  .transform((text) => (text === '16000' ? 16_000 : 8000));

export const OPTIONS = {
  modems: {
    env: 'MODEMS',
    about: 'Number of modems',
    schema: integerOption(1, 256, 4),
  },
  firstModem: {
    env: 'FIRST_MODEM',
    about:
      'Number from which this rack counts its modems. IMEIs, SIMs and phone numbers follow from it: give each rack a range of its own, such as 0 and 100',
    schema: integerOption(0, 9_000, SIMULATOR_DEFAULTS.firstModem),
  },
  dir: {
    env: 'RACK_DIR',
    about: 'Folder of the ports, and of the state that survives a restart',
    schema: z.string().min(1).default('data/rack'),
  },
  port: {
    env: 'SIMULATOR_PORT',
    about: 'Port of the HTTP interface on 127.0.0.1; 0: a free port',
    schema: integerOption(0, 65_535, 0),
  },
  makes: {
    env: 'MAKES',
    about: `Makes of the modems, assigned to the slots in turn: ${MAKE_NAMES.join(', ')}`,
    schema: makesOption,
  },
  sendDelayMs: {
    env: 'RADIO_DELAY_MS',
    about: 'How long each message takes on the air',
    schema: integerOption(0, 600_000, SIMULATOR_DEFAULTS.sendDelayMs),
  },
  bootMs: {
    env: 'BOOT_MS',
    about: 'How long a restart by command takes until the device is back',
    schema: integerOption(0, 600_000, SIMULATOR_DEFAULTS.bootMs),
  },
  messagingAfterMs: {
    env: 'MESSAGING_AFTER_MS',
    about: 'How long after that restart the modem cannot handle messages yet',
    schema: integerOption(0, 600_000, SIMULATOR_DEFAULTS.messagingAfterMs),
  },
  storageFirstMs: {
    env: 'STORAGE_FIRST_MS',
    about: 'How long Huawei modems show their driver disk after they are plugged in',
    schema: integerOption(0, 600_000, SIMULATOR_DEFAULTS.storageFirstMs),
  },
  identicalSerials: {
    env: 'IDENTICAL_SERIALS',
    about: 'true: all devices have the same USB serial number',
    schema: booleanOption,
  },
  usbController: {
    env: 'USB_CONTROLLER',
    about: `Host controller that each USB bus shows: ${USB_CONTROLLERS.join(', ')}`,
    schema: z
      .enum(USB_CONTROLLERS, { error: `must be one of ${USB_CONTROLLERS.join(', ')}` })
      .default('qemu'),
  },
  simSlots: {
    env: 'SIM_SLOTS',
    about: 'Number of messages that a SIM card can store',
    schema: integerOption(1, 255, USUAL_CAPACITIES.SM),
  },
  modemSlots: {
    env: 'MODEM_SLOTS',
    about: 'Number of messages that a modem can store in its own memory',
    schema: integerOption(1, 255, USUAL_CAPACITIES.ME),
  },
  reportSlots: {
    env: 'REPORT_SLOTS',
    about: 'Number of status reports that a modem can store',
    schema: integerOption(1, 255, USUAL_CAPACITIES.SR),
  },
  keep: {
    env: 'KEEP',
    about: 'Number of sent messages kept for GET /sms',
    schema: integerOption(1, 10_000_000, SIMULATOR_DEFAULTS.keep),
  },
  keepEvents: {
    env: 'KEEP_EVENTS',
    about: 'Number of events kept for clients of GET /events that reconnect',
    schema: integerOption(1, 10_000_000, SIMULATOR_DEFAULTS.keepEvents),
  },
  keepCalls: {
    env: 'KEEP_CALLS',
    about: 'Number of calls kept for GET /calls',
    schema: integerOption(1, 1_000_000, SIMULATOR_DEFAULTS.keepCalls),
  },
  ringIntervalMs: {
    env: 'RING_INTERVAL_MS',
    about: 'Interval between two RING lines',
    schema: integerOption(100, 60_000, SIMULATOR_DEFAULTS.ringIntervalMs),
  },
  noAnswerMs: {
    env: 'NO_ANSWER_MS',
    about: 'How long a modem rings before the network gives up',
    schema: integerOption(1, 600_000, SIMULATOR_DEFAULTS.noAnswerMs),
  },
  volte: {
    env: 'VOLTE',
    about: 'false: calls go over 2G or 3G, and the audio of SIMCom modems has 8 kHz',
    schema: booleanOption.default(true),
  },
  homeNetwork: {
    env: 'HOME_NETWORK',
    about: 'Code of the network (MCC and MNC) of the SIM cards: 5 or 6 digits',
    schema: z
      .string()
      .regex(/^\d{5,6}$/, 'must be 5 or 6 digits')
      .default(SIMULATOR_DEFAULTS.homeNetwork),
  },
  usbAudio: {
    env: 'USB_AUDIO',
    about: 'true: Quectel modems have a USB sound card',
    schema: booleanOption,
  },
  pcmRateHz: {
    env: 'PCM_RATE_HZ',
    about: 'Sample rate of Quectel modems after a start: 8000 or 16000',
    schema: rateOption,
  },
  endWithInput: {
    env: 'END_WITH_INPUT',
    about: 'true: stop when standard input ends, which happens when the parent program dies',
    schema: booleanOption,
  },
  logLevel: LOG_LEVEL_OPTION,
  logFormat: LOG_FORMAT_OPTION,
} as const;
