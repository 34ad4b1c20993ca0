// The simulator as a program: reads options, starts the rack, says where it is, stops on a signal.
import { createLogger } from '#shared/process/logger.ts';
import { readOptions } from '#shared/process/options.ts';
import { runProgram } from '#shared/process/run.ts';
import { modemView } from './http/views.ts';
import { OPTIONS } from './options.ts';
import { startSimulator } from './simulator.ts';

const options = readOptions('hardware-sim', 'Simulate a rack of USB modems and their carrier.', OPTIONS);

const log = createLogger('hardware-sim', options);

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
