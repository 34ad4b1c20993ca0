// The daemon's options: names, defaults and checks.
import { basename } from 'node:path';
import * as z from 'zod';
import { type Destinations, destinationsOption } from '#shared/destination-list.ts';
import type { LogLevel } from '#shared/log.ts';
import { ConfigFileError } from '#shared/process/config-file.ts';
import { LOG_FORMAT_OPTION, LOG_LEVEL_OPTION, type OptionsOf } from '#shared/process/options.ts';
import { DEFAULT_CONFIG_PATH, readConfigFile } from './config-file.ts';
import { type NodeConfig, SLOT_NAME_PATTERN, SLOTS_MAX } from './node-config.ts';

export const DEFAULT_DATA_DIR = 'data/node';
const DEFAULT_LOG_LEVEL: LogLevel = 'info';

/** A slot and the device path of its modem's AT port. */
export interface ModemPort {
  readonly slot: string;
  readonly path: string;
}

const modemPortsSchema = z.string().transform((text, context) => {
  const ports = text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
    .map(parseModemPort);
  const problem = modemPortsProblem(ports);
  if (problem !== undefined) {
    context.addIssue({ code: 'custom', message: problem });
    return z.NEVER;
  }
  return ports;
});

const folderSchema = z.string().min(1, 'must be a path');

/** Options of the daemon, for `readOptions`. An option that the file can also set is `undefined` if it is not given. */
export const daemonOptions = {
  config: {
    env: 'NODE_CONFIG',
    about: `Configuration file; default ${DEFAULT_CONFIG_PATH}, if it exists`,
    schema: folderSchema.optional(),
  },
  modemPorts: {
    env: 'MODEM_PORTS',
    about:
      'AT ports that are not USB devices, separated by commas, each a path or name=path; the daemon then uses no other ports',
    schema: modemPortsSchema.optional(),
  },
  dataDir: {
    env: 'DATA_DIR',
    about: `Folder of the identity and the journal; overrides the configuration file`,
    schema: folderSchema.optional(),
  },
  defaultDataDir: {
    env: 'DEFAULT_DATA_DIR',
    about: `Data folder if neither --data-dir nor the configuration file sets one; the Debian package sets it, otherwise ${DEFAULT_DATA_DIR}`,
    schema: folderSchema.optional(),
  },
  destinations: {
    ...destinationsOption,
    about: `${destinationsOption.about}; overrides the configuration file; default US`,
  },
  logLevel: {
    ...LOG_LEVEL_OPTION,
    about: `${LOG_LEVEL_OPTION.about}; overrides the configuration file; default ${DEFAULT_LOG_LEVEL}`,
    schema: LOG_LEVEL_OPTION.schema.removeDefault().optional(),
  },
  logFormat: LOG_FORMAT_OPTION,
  sysfsRoot: {
    env: 'SYSFS_ROOT',
    about: 'Folder in which the kernel lists USB devices',
    schema: folderSchema.default('/sys'),
  },
  devRoot: {
    env: 'DEV_ROOT',
    about: 'Folder of serial devices',
    schema: folderSchema.default('/dev'),
  },
};

/** The options from the command line and the environment. */
type GivenOptions = Omit<OptionsOf<typeof daemonOptions>, 'defaultDataDir' | 'destinations' | 'logFormat'> & {
  readonly defaultDataDir?: string | undefined;
  readonly destinations?: Destinations | undefined;
};

/** The options joined with the file. */
export interface DaemonSettings {
  readonly dataDir: string;
  readonly logLevel: LogLevel;
  readonly config: NodeConfig;
  readonly sysfsRoot: string;
  readonly devRoot: string;
}

/**
 * Reads the configuration file and joins it with the options, which win. Ports of the options are slots like
 * those of the file. Throws `ConfigFileError`.
 */
export function settingsOf(options: GivenOptions): DaemonSettings {
  return joinedSettings(options, readConfigFile(options.config));
}

/** Joins the options with the configuration. Throws `ConfigFileError` for a slot that is in both. */
export function joinedSettings(options: GivenOptions, file: NodeConfig): DaemonSettings {
  const { defaultDataDir = DEFAULT_DATA_DIR, devRoot, modemPorts = [], sysfsRoot } = options;
  const ports = modemPorts.map(({ slot, path }) => ({ name: slot, port: path }));
  for (const { name } of ports) {
    if (file.slots.some((slot) => slot.name === name)) {
      throw new ConfigFileError(
        `MODEM_PORTS: slot "${name}" is also in the configuration file. Remove one of them`,
      );
    }
  }
  const config = {
    ...file,
    slots: [...file.slots, ...ports],
    destinations: options.destinations ?? file.destinations,
    // An operator who lists ports, for example those of a simulated rack, does not want the host's other modems.
    discover: file.discover ?? ports.length === 0,
  };
  const { dataDir = defaultDataDir, logLevel = DEFAULT_LOG_LEVEL } = file;
  return {
    dataDir: options.dataDir ?? dataDir,
    logLevel: options.logLevel ?? logLevel,
    config,
    sysfsRoot,
    devRoot,
  };
}

/** Returns the parts of the settings that lead to the running daemon. Throws `ConfigFileError`. */
export function daemonAt(
  options: Pick<GivenOptions, 'config' | 'dataDir' | 'defaultDataDir'>,
): Pick<DaemonSettings, 'config' | 'dataDir'> {
  const config = readConfigFile(options.config);
  return { config, dataDir: options.dataDir ?? config.dataDir ?? options.defaultDataDir ?? DEFAULT_DATA_DIR };
}

/** Returns the data folder that the daemon uses with these options. Throws `ConfigFileError`. */
export function dataDirOf({
  config,
  dataDir,
  defaultDataDir = DEFAULT_DATA_DIR,
}: Partial<Pick<GivenOptions, 'config' | 'dataDir' | 'defaultDataDir'>>): string {
  return dataDir ?? readConfigFile(config).dataDir ?? defaultDataDir;
}

/** Reads `path` or `name=path`; the default name is the last part of the path. */
export function parseModemPort(item: string): ModemPort {
  const named = /^([^=/]+)=(.*)$/.exec(item);
  const path = named?.[2] ?? item;
  return { slot: named?.[1] ?? basename(path), path };
}

function modemPortsProblem(ports: readonly ModemPort[]): string | undefined {
  if (ports.length === 0) return 'contains no port';
  if (ports.length > SLOTS_MAX) return `contains more than ${SLOTS_MAX} ports`;
  const slots = new Set<string>();
  const paths = new Set<string>();
  for (const { slot, path } of ports) {
    if (path === '') return `slot "${slot}" has no path`;
    if (!SLOT_NAME_PATTERN.test(slot))
      return `"${slot}" is not a slot name: use letters, digits, ".", "_" and "-"`;
    if (slots.has(slot)) return `slot "${slot}" occurs twice`;
    if (paths.has(path)) return `port "${path}" occurs twice`;
    slots.add(slot);
    paths.add(path);
  }
  return undefined;
}
