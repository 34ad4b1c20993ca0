// Reads the configuration file: YAML, every problem told with its line, column and key.
import { readFileSync } from 'node:fs';
import { type Document, isMap, isNode, isPair, isScalar, LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import { simSettings } from '../modem/sim-settings.ts';
import { DEFAULT_CONFIG, type NamedSlot, type NodeConfig } from './node-config.ts';
import { configSchema, type WrittenConfig } from './schema.ts';
import { allowedKeys, closest, type Path } from './suggestion.ts';

/** Where it is looked for when nobody says where it is. */
export const DEFAULT_CONFIG_PATH = '/etc/simrack/node-daemon.yaml';
/** A file of the most slots and SIM cards is a tenth of this. */
const TEXT_LENGTH_MAX = 1024 * 1024;

/** The file cannot be used; the message has a line for each problem: `file:line:column: key: what is allowed`. */
export class ConfigFileError extends Error {
  override name = 'ConfigFileError';
}

/**
 * Reads the file at `path`, or the one at `DEFAULT_CONFIG_PATH` when there is one. Throws `ConfigFileError`.
 */
export function readConfigFile(path: string | undefined): NodeConfig {
  const file = path ?? DEFAULT_CONFIG_PATH;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (path === undefined && code === 'ENOENT') return DEFAULT_CONFIG;
    throw new ConfigFileError(`${file}: cannot be read: ${code ?? String(cause)}`, { cause });
  }
  return parseConfig(text, file);
}

/** Reads the text of a configuration file; `file` is its name in problems. Throws `ConfigFileError`. */
export function parseConfig(text: string, file: string): NodeConfig {
  if (text.length > TEXT_LENGTH_MAX) throw new ConfigFileError(`${file}: is longer than 1 MiB`);
  const lineCounter = new LineCounter();
  // With this schema every scalar is a text: 0123 stays a PIN, and a long ICCID is not rounded.
  const document = parseDocument(text, { schema: 'failsafe', lineCounter, prettyErrors: false });
  const at = (offset: number): string => {
    const { line, col } = lineCounter.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const [broken] = [...document.errors, ...document.warnings];
  if (broken !== undefined) {
    // The library's own text is for programmers.
    const message = broken.code === 'MULTIPLE_DOCS' ? 'must be one document, without "---"' : broken.message;
    throw new ConfigFileError(`${at(broken.pos[0])}: ${message}`);
  }
  if (document.contents === null) return DEFAULT_CONFIG;
  const parsed = configSchema.safeParse(document.toJS({ maxAliasCount: 100 }));
  if (parsed.success) return meaningOf(parsed.data);
  const problems = parsed.error.issues
    .flatMap((issue) => problemsOf(document, issue))
    .sort((one, other) => one.offset - other.offset);
  throw new ConfigFileError(problems.map(({ offset, text }) => `${at(offset)}: ${text}`).join('\n'));
}

interface Problem {
  readonly offset: number;
  readonly text: string;
}

function problemsOf(document: Document, issue: z.core.$ZodIssue): Problem[] {
  const path = issue.path as Path;
  if (issue.code === 'unrecognized_keys') {
    const allowed = allowedKeys(configSchema, path);
    return issue.keys.map((key) => {
      const meant = closest(key, allowed);
      const hint = meant === undefined ? `allowed are ${allowed.join(', ')}` : `did you mean ${meant}?`;
      const offset = keyOffsetOf(document, path, key);
      return { offset, text: `${keyOf([...path, key])}unknown key; ${hint}` };
    });
  }
  const missing = path.length > 0 && !document.hasIn(path) ? 'is missing: ' : '';
  const offset =
    issue.code === 'invalid_key'
      ? keyOffsetOf(document, path.slice(0, -1), String(path.at(-1)))
      : offsetOf(document, path);
  return [{ offset, text: `${keyOf(path)}${missing}${issue.message}` }];
}

/** `slots[0].imei: `; nothing for the whole file. */
function keyOf(path: Path): string {
  const key = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return key === '' ? '' : `${key.replace(/^\./, '')}: `;
}

/** Of what is not there: of the map that it should be in. */
function offsetOf(document: Document, path: Path): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

function keyOffsetOf(document: Document, path: Path, key: string): number {
  const node = path.length === 0 ? document.contents : document.getIn(path, true);
  const pair = isMap(node)
    ? node.items.find((item) => isScalar(item.key) && item.key.value === key)
    : undefined;
  return isPair(pair) && isNode(pair.key) && pair.key.range ? pair.key.range[0] : offsetOf(document, path);
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
    sendLimits: { perSim: rateOf(per_sim), perDestination: rateOf(per_destination) },
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
  };
}

function slotOf({ name, imei, usb_path, port }: WrittenConfig['slots'][number]): NamedSlot {
  if (imei !== undefined) return { name, imei };
  return usb_path === undefined ? { name, port: port ?? '' } : { name, usbPath: usb_path };
}

type WrittenRate = {
  per_minute?: number | undefined;
  per_hour?: number | undefined;
  per_day?: number | undefined;
};

function rateOf({ per_minute, per_hour, per_day }: WrittenRate): NodeConfig['sendLimits']['perSim'] {
  return { perMinute: per_minute, perHour: per_hour, perDay: per_day };
}
