// Reads the configuration file of a node.
import { EXIT_CODES } from '#shared/operator/operator-error.ts';
import { ConfigFileError, parseConfigText, readConfigText } from '#shared/process/config-file.ts';
import { howToGetAt } from '../system/file-owners.ts';
import { DEFAULT_CONFIG, type NamedSlot, type NodeConfig, simSettings } from './node-config.ts';
import { configSchema, type WrittenConfig } from './schema.ts';

/** The default path of the configuration file. */
export const DEFAULT_CONFIG_PATH = '/etc/simrack/node-daemon.yaml';

/** This user may not read the file. The message names the users who may. */
export class ConfigDeniedError extends ConfigFileError {
  override name = 'ConfigDeniedError';
  /** The tools' exit code for missing permissions. */
  readonly exitCode = EXIT_CODES.unreachable;
}

/**
 * Reads the file at `path`, or the one at `DEFAULT_CONFIG_PATH` if it exists. Throws `ConfigFileError`,
 * `ConfigDeniedError`.
 */
export function readConfigFile(path: string | undefined): NodeConfig {
  const file = path ?? DEFAULT_CONFIG_PATH;
  const text = textOf(file);
  if (text !== undefined) return parseConfig(text, file);
  if (path === undefined) return DEFAULT_CONFIG;
  throw new ConfigFileError(`${file}: does not exist`);
}

function textOf(file: string): string | undefined {
  try {
    return readConfigText(file);
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
    if (code !== 'EACCES') throw error;
    throw new ConfigDeniedError(`you have no permission to read ${file}: ${howToGetAt(file)}`, {
      cause: error,
    });
  }
}

/** Reads the text of a configuration file. `file` is its name in errors. Throws `ConfigFileError`. */
export function parseConfig(text: string, file: string): NodeConfig {
  const written = parseConfigText(configSchema, text, file);
  return written === undefined ? DEFAULT_CONFIG : meaningOf(written);
}

function meaningOf(written: WrittenConfig): NodeConfig {
  const { recovery, sms } = written;
  const { per_sim = {}, per_destination = {} } = sms?.limits ?? {};
  const perHour = recovery?.limits_per_hour ?? {};
  const fallback = DEFAULT_CONFIG.recovery;
  return {
    dataDir: written.data_dir,
    logLevel: written.log_level,
    slots: written.slots.map(slotOf),
    discover: written.discover,
    ignore: written.ignore.map(({ usb_path, usb_id }) =>
      usb_id === undefined ? { usbPath: usb_path ?? '' } : { usbId: usb_id },
    ),
    sims: simSettings(written.sims, written.sim_pin),
    carriers: {
      applies: written.carrier_settings?.apply ?? DEFAULT_CONFIG.carriers.applies,
      networks: new Map(
        Object.entries(written.carrier_settings?.networks ?? {}).map(
          ([code, { apply, profile, ims, ims_apn }]) => [
            code,
            { applies: apply, carrierProfile: profile, ims, imsApn: ims_apn },
          ],
        ),
      ),
    },
    sendLimits: { perSim: rateOf(per_sim), perDestination: rateOf(per_destination) },
    destinations: written.destinations ?? DEFAULT_CONFIG.destinations,
    recovery: {
      usbReset: recovery?.usb_reset ?? fallback.usbReset,
      powerCycle: recovery?.power_cycle,
      perHour: {
        radio: perHour.radio ?? fallback.perHour.radio,
        restart: perHour.restart ?? fallback.perHour.restart,
        usbReset: perHour.usb_reset ?? fallback.perHour.usbReset,
        powerCycle: perHour.power_cycle ?? fallback.perHour.powerCycle,
      },
    },
    modeSwitch: written.mode_switch,
    metricsPort: written.metrics?.port,
    operatorSocket: written.operator_socket,
    drainMs: written.drain_seconds === undefined ? DEFAULT_CONFIG.drainMs : written.drain_seconds * 1_000,
  };
}

function slotOf({ name, imei, usb_path, port, audio_port }: WrittenConfig['slots'][number]): NamedSlot {
  if (imei !== undefined) return { name, imei };
  return usb_path === undefined
    ? { name, port: port ?? '', audioPort: audio_port }
    : { name, usbPath: usb_path };
}

type WrittenRate = {
  per_minute?: number | undefined;
  per_hour?: number | undefined;
  per_day?: number | undefined;
};

function rateOf({ per_minute, per_hour, per_day }: WrittenRate): NodeConfig['sendLimits']['perSim'] {
  return { perMinute: per_minute, perHour: per_hour, perDay: per_day };
}
