// `control-plane node add | list | revoke`: what an operator does with nodes, from the command line.
import { nodeNameSchema } from '#shared/link/node-name.ts';
import { programCommand } from '#shared/process/commands.ts';
import type { NodeListing } from '../nodes/registry.ts';
import { alignedTable } from './aligned-table.ts';
import type { UrlRegistry } from './url-registry.ts';
import { WHERE, type Where, withOperator } from './where.ts';

const withRegistry = (where: Where, work: (registry: UrlRegistry) => Promise<string>): Promise<void> =>
  withOperator(where, ({ registry }) => work(registry));

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
  return alignedTable(['NODE', 'STATE', 'SIMS', ''], rows);
}

function shownSlot({ slot, state, reason }: NodeListing['unregistered_slots'][number]): string {
  return reason === null ? `${slot} ${state}` : `${slot} ${state} (${reason})`;
}
