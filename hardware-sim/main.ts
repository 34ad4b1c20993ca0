// The simulator as a program: reads options, starts the rack, says where it is, stops on a signal.
import * as z from 'zod';
import { createLogger } from '#shared/process/logger.ts';
import { integerOption, LOG_LEVEL_OPTION, readOptions } from '#shared/process/options.ts';
import { runProgram } from '#shared/process/run.ts';
import { modemView } from './http/views.ts';
import { MAKE_NAMES } from './makes/make.ts';
import { USUAL_CAPACITIES } from './modem/message-stores.ts';
import { SIMULATOR_DEFAULTS, startSimulator } from './simulator.ts';

const makesOption = z
  .string()
  .default('quectel')
  .transform((text) => text.split(','))
  .pipe(z.array(z.enum(MAKE_NAMES, { error: `must be some of ${MAKE_NAMES.join(', ')}` })));

const yesOr = (fallback: 'yes' | 'no') =>
  z
    .enum(['yes', 'no'], { error: 'must be yes or no' })
    .default(fallback)
    .transform((text) => text === 'yes');

const rateOption = z
  .enum(['8000', '16000'], { error: 'must be 8000 or 16000' })
  .default('8000')
  .transform((text) => (text === '16000' ? 16_000 : 8000));

const options = readOptions('hardware-sim', 'A rack of simulated USB modems with a carrier behind it.', {
  modems: {
    env: 'MODEMS',
    about: 'number of modems, 1 to 256',
    schema: integerOption(1, 256, 4),
  },
  dir: {
    env: 'RACK_DIR',
    about: 'folder of the ports and of the state that survives a restart',
    schema: z.string().min(1).default('data/rack'),
  },
  port: {
    env: 'SIMULATOR_PORT',
    about: 'port of the HTTP interface on 127.0.0.1, 0 for a free one',
    schema: integerOption(0, 65_535, 0),
  },
  makes: {
    env: 'MAKES',
    about: `makes of the modems, given to the slots in turn: ${MAKE_NAMES.join(', ')}`,
    schema: makesOption,
  },
  sendDelayMs: {
    env: 'RADIO_DELAY_MS',
    about: 'milliseconds that each message takes on the air',
    schema: integerOption(0, 600_000, SIMULATOR_DEFAULTS.sendDelayMs),
  },
  bootMs: {
    env: 'BOOT_MS',
    about: 'milliseconds from a restart by command until the device is back',
    schema: integerOption(0, 600_000, SIMULATOR_DEFAULTS.bootMs),
  },
  messagingAfterMs: {
    env: 'MESSAGING_AFTER_MS',
    about: 'milliseconds from then until the modem can handle messages',
    schema: integerOption(0, 600_000, SIMULATOR_DEFAULTS.messagingAfterMs),
  },
  storageFirstMs: {
    env: 'STORAGE_FIRST_MS',
    about: 'milliseconds that Huawei modems show their driver disk when they arrive',
    schema: integerOption(0, 600_000, SIMULATOR_DEFAULTS.storageFirstMs),
  },
  identicalSerials: {
    env: 'IDENTICAL_SERIALS',
    about: 'yes: all devices show the same USB serial number',
    schema: yesOr('no'),
  },
  simSlots: {
    env: 'SIM_SLOTS',
    about: 'messages that a SIM card holds',
    schema: integerOption(1, 255, USUAL_CAPACITIES.SM),
  },
  modemSlots: {
    env: 'MODEM_SLOTS',
    about: 'messages that a modem holds beside the card',
    schema: integerOption(1, 255, USUAL_CAPACITIES.ME),
  },
  reportSlots: {
    env: 'REPORT_SLOTS',
    about: 'status reports that a modem holds',
    schema: integerOption(1, 255, USUAL_CAPACITIES.SR),
  },
  keep: {
    env: 'KEEP',
    about: 'messages of the modems that are kept for GET /sms',
    schema: integerOption(1, 10_000_000, SIMULATOR_DEFAULTS.keep),
  },
  keepEvents: {
    env: 'KEEP_EVENTS',
    about: 'events that are kept for clients of GET /events that come back',
    schema: integerOption(1, 10_000_000, SIMULATOR_DEFAULTS.keepEvents),
  },
  keepCalls: {
    env: 'KEEP_CALLS',
    about: 'calls that are kept for GET /calls',
    schema: integerOption(1, 1_000_000, SIMULATOR_DEFAULTS.keepCalls),
  },
  ringIntervalMs: {
    env: 'RING_INTERVAL_MS',
    about: 'milliseconds from one RING to the next',
    schema: integerOption(100, 60_000, SIMULATOR_DEFAULTS.ringIntervalMs),
  },
  noAnswerMs: {
    env: 'NO_ANSWER_MS',
    about: 'milliseconds that a modem rings before the network gives up',
    schema: integerOption(1, 600_000, SIMULATOR_DEFAULTS.noAnswerMs),
  },
  volte: {
    env: 'VOLTE',
    about: 'no: calls go over 2G or 3G, and SIMCom modems have 8 kHz',
    schema: yesOr('yes'),
  },
  usbAudio: {
    env: 'USB_AUDIO',
    about: 'yes: Quectel modems have a USB sound card',
    schema: yesOr('no'),
  },
  pcmRateHz: {
    env: 'PCM_RATE_HZ',
    about: 'sample rate that Quectel modems begin with, 8000 or 16000',
    schema: rateOption,
  },
  endWithInput: {
    env: 'END_WITH_INPUT',
    about: 'yes: ends when its standard input does, as it does when the program that started it dies',
    schema: yesOr('no'),
  },
  logLevel: LOG_LEVEL_OPTION,
});

const log = createLogger('hardware-sim', options.logLevel);

if (options.endWithInput) {
  process.stdin.resume().on('end', () => process.kill(process.pid, 'SIGTERM'));
}

await runProgram(log, async () => {
  const { simSlots: SM, modemSlots: ME, reportSlots: SR } = options;
  const simulator = await startSimulator({
    ...options,
    isVolte: options.volte,
    capacities: { SM, ME, SR },
    log,
  });
  const ready = {
    simulator_url: simulator.url,
    dir: simulator.dir,
    modems: simulator.modems.map(modemView),
  };
  process.stdout.write(`${JSON.stringify(ready)}\n`);
  log.info({ modems: options.modems, dir: simulator.dir, url: simulator.url }, 'the rack is up');
  return simulator;
});
