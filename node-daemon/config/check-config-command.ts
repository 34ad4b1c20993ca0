// `node-daemon check-config`: whether the daemon would take its configuration file. systemd runs it before each reload.
import { existsSync } from 'node:fs';
import { programCommand } from '#shared/process/commands.ts';
import { DEFAULT_CONFIG_PATH } from './config-file.ts';
import { daemonOptions, settingsOf } from './options.ts';

export const CHECK_CONFIG_COMMAND = programCommand({
  usage: 'check-config',
  about: 'Check the configuration file. Changes nothing. The exit code is 0 if the daemon would accept it.',
  options: daemonOptions,
  run(options) {
    const { config } = settingsOf(options);
    const file = options.config ?? DEFAULT_CONFIG_PATH;
    process.stdout.write(
      existsSync(file)
        ? `${file}: no errors; named slots: ${config.slots.length}\n`
        : `${file} does not exist: the daemon uses the defaults, and every modem that it finds over USB\n`,
    );
    return Promise.resolve();
  },
});
