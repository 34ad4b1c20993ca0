// `node-daemon check-config`: whether the daemon would take its configuration file. systemd runs it before each reload.
import { existsSync } from 'node:fs';
import { type AnyCommand, programCommand } from '#shared/process/commands.ts';
import { DEFAULT_CONFIG_PATH } from './config-file.ts';
import { daemonOptions, settingsOf } from './options.ts';

const COMMAND = programCommand({
  usage: 'check-config',
  about: 'Check the configuration file. Changes nothing. The exit code is 0 if the daemon would accept it.',
  options: daemonOptions,
  run(options, [file]) {
    if (file !== undefined)
      return Promise.reject(new Error(`too many arguments: name the file with --config ${file}`));
    const { config } = settingsOf(options);
    const path = options.config ?? DEFAULT_CONFIG_PATH;
    process.stdout.write(
      existsSync(path)
        ? `${path}: no errors; named slots: ${config.slots.length}\n`
        : `${path} does not exist: the daemon uses the defaults, and every modem that it finds over USB\n`,
    );
    return Promise.resolve();
  },
});

export const CHECK_CONFIG_COMMAND: AnyCommand = {
  ...COMMAND,
  build(command) {
    COMMAND.build(command);
    // A file that is given without the option gets an error that names the option.
    command.allowExcessArguments(true);
  },
};
