// The daemon's options: names, defaults and checks.
import { basename } from 'node:path';
import { z } from 'zod';
import { linkSecretSchema, nodeIdSchema } from '#shared/link/credential.ts';
import { LOG_LEVEL_OPTION } from '#shared/process/options.ts';

/** A slot and the device path of its modem's AT port. */
export interface ModemPort {
  readonly slot: string;
  readonly path: string;
}

/** All slots go into one frame of the link: this many with the longest names fit. */
const MODEM_PORTS_MAX = 128;
const SLOT_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

const modemPortsSchema = z
  .string('is required: serial device paths, separated by commas')
  .transform((text, context) => {
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

/** Options of the daemon, as `readOptions` takes them. */
export const daemonOptions = {
  controlPlaneUrl: {
    env: 'CONTROL_PLANE_URL',
    about: 'base URL of the control plane, http or https',
    schema: z
      .string('is required: base URL of the control plane')
      .refine(isHttpUrl, 'must be an http or https URL without user, query and fragment'),
  },
  nodeId: {
    env: 'NODE_ID',
    about: 'name of this node',
    schema: nodeIdSchema.default('node-1'),
  },
  linkSecret: {
    env: 'LINK_SECRET',
    about: 'proof of identity to the control plane, at least 16 characters',
    schema: linkSecretSchema,
  },
  modemPorts: {
    env: 'MODEM_PORTS',
    about: 'AT ports of the modems, separated by commas, each a path or name=path',
    schema: modemPortsSchema,
  },
  dataDir: {
    env: 'DATA_DIR',
    about: "folder of this node's journal",
    schema: z.string().min(1).default('data/node'),
  },
  logLevel: LOG_LEVEL_OPTION,
};

/** Reads `path` or `name=path`; the default name is the last part of the path. */
export function parseModemPort(item: string): ModemPort {
  const named = /^([^=/]+)=(.*)$/.exec(item);
  const path = named?.[2] ?? item;
  return { slot: named?.[1] ?? basename(path), path };
}

function modemPortsProblem(ports: readonly ModemPort[]): string | undefined {
  if (ports.length === 0) return 'names no port';
  if (ports.length > MODEM_PORTS_MAX) return `names more than ${MODEM_PORTS_MAX} ports`;
  const slots = new Set<string>();
  const paths = new Set<string>();
  for (const { slot, path } of ports) {
    if (path === '') return `slot "${slot}" has no path`;
    if (!SLOT_PATTERN.test(slot)) return `"${slot}" is no slot name: letters, digits, ".", "_" and "-"`;
    if (slots.has(slot)) return `slot "${slot}" is named twice`;
    if (paths.has(path)) return `port "${path}" is named twice`;
    slots.add(slot);
    paths.add(path);
  }
  return undefined;
}

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username + password + search + hash === '';
}
