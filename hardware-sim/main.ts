// The simulator as a program: reads options, starts the rack, says where it is, stops on a signal.
import { z } from 'zod';
import { createLogger, LOG_LEVELS } from '#shared/process/logger.ts';
import { readOptions } from '#shared/process/options.ts';
import { runProgram } from '#shared/process/run.ts';
import { modemView } from './http/views.ts';
import { startSimulator } from './simulator.ts';

const wholeNumber = (min: number, max: number) => z.coerce.number(`must be a number`).int().min(min).max(max);

const options = readOptions('hardware-sim', 'A rack of simulated USB modems with a carrier behind it.', {
  modems: {
    env: 'MODEMS',
    about: 'number of modems, 1 to 256',
    schema: wholeNumber(1, 256).default(4),
  },
  dir: {
    env: 'RACK_DIR',
    about: 'folder of the ports and of the state that survives a restart',
    schema: z.string().min(1).default('data/rack'),
  },
  port: {
    env: 'SIMULATOR_PORT',
    about: 'port of the HTTP interface on 127.0.0.1, 0 for a free one',
    schema: wholeNumber(0, 65_535).default(0),
  },
  sendDelayMs: {
    env: 'RADIO_DELAY_MS',
    about: 'milliseconds that each message takes on the air',
    schema: wholeNumber(0, 600_000).default(0),
  },
  logLevel: {
    env: 'LOG_LEVEL',
    about: `one of ${LOG_LEVELS.join(', ')}`,
    schema: z.enum(LOG_LEVELS).default('info'),
  },
});

const log = createLogger('hardware-sim', options.logLevel);

await runProgram(log, async () => {
  const simulator = await startSimulator({ ...options, log });
  const ready = {
    simulator_url: simulator.url,
    dir: simulator.dir,
    modems: simulator.modems.map(modemView),
  };
  process.stdout.write(`${JSON.stringify(ready)}\n`);
  log.info({ modems: options.modems, dir: simulator.dir, url: simulator.url }, 'the rack is up');
  return simulator;
});
