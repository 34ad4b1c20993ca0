// `control-plane node add | list | revoke`: what an operator does with nodes, from the command line.
import { nodeNameSchema } from '#shared/link/node-name.ts';
import { programCommand } from '#shared/process/commands.ts';
import { OPTIONS } from '../config.ts';
import type { NodeListing } from '../nodes/registry.ts';
import { openRegistry } from './open-registry.ts';
import type { UrlRegistry } from './url-registry.ts';

const { databaseUrl, dataDir, host, port, publicUrl } = OPTIONS;
const WHERE = { databaseUrl, dataDir, host, port, publicUrl };

interface Where {
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string | undefined;
}

async function withRegistry(where: Where, work: (registry: UrlRegistry) => Promise<string>): Promise<void> {
  const url = (where.publicUrl ?? `http://${where.host}:${where.port}`).replace(/\/+$/, '');
  const { registry, close } = await openRegistry({ ...where, url });
  try {
    process.stdout.write(`${await work(registry)}\n`);
  } finally {
    await close();
  }
}

function checkedName(text: string | undefined): string {
  const parsed = nodeNameSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new Error(`the name ${parsed.error.issues[0]?.message}`);
}

export const NODE_COMMANDS = [
  programCommand({
    usage: 'node add <name>',
    about: 'prints a code, good once and for a day, that enrols a node, or enrols it anew',
    options: WHERE,
    run: (where, [name]) =>
      withRegistry(where, async (registry) => {
        const { code, url, expires_at } = await registry.add(checkedName(name));
        return `${code}\n\nOn the node, until ${expires_at}:\n\n  npx node-daemon enrol ${url} ${code}\n`;
      }),
  }),
  programCommand({
    usage: 'node list',
    about: 'lists the nodes and how they are',
    options: WHERE,
    run: (where) => withRegistry(where, async (registry) => table(await registry.list())),
  }),
  programCommand({
    usage: 'node revoke <name>',
    about: 'takes a node out of service; "node add" of the same name lets it come back',
    options: WHERE,
    run: (where, [name]) =>
      withRegistry(where, async (registry) => {
        const checked = checkedName(name);
        if (!(await registry.revoke(checked))) throw new Error(`there is no node "${checked}"`);
        return `${checked} is revoked: it has no link within a heartbeat, and makes no other`;
      }),
  }),
];

function table(nodes: readonly NodeListing[]): string {
  const rows = nodes.map(({ name, state, sims, alarms, unregistered_slots, code_until }) => [
    name,
    state,
    String(sims),
    [
      ...alarms,
      ...unregistered_slots.map(shownSlot),
      ...(code_until === null ? [] : [`code until ${code_until}`]),
    ].join(', '),
  ]);
  const all = [['NODE', 'STATE', 'SIMS', ''], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function shownSlot({ slot, state, reason }: NodeListing['unregistered_slots'][number]): string {
  return reason === null ? `${slot} ${state}` : `${slot} ${state} (${reason})`;
}
