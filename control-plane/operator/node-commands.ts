// `control-plane node add | list | revoke | approve`: what an operator does with nodes, from the command line.
import { nodeNameSchema } from '#shared/link/node-name.ts';
import { alignedTable } from '#shared/process/aligned-table.ts';
import { programCommand } from '#shared/process/commands.ts';
import type { NodeListing } from '../nodes/registry.ts';
import { fingerprintSchema } from './desk-inputs.ts';
import { shownRefusals } from './shown-refusals.ts';
import { filterOption, WHERE, withOperator } from './where.ts';

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
      withOperator(
        where,
        async ({ registry }) => {
          const { code, url, expires_at } = await registry.add(checkedName(name));
          const enrol = `node-daemon enrol ${url} ${code}`;
          return `${code}\n\nOn the node, until ${expires_at}:\n\n  ${enrol}\n\nIn a checkout there, without the package:\n\n  npx --no-install ${enrol}\n`;
        },
        // It may come before the service was ever started.
        { mayCreate: true },
      ),
  }),
  programCommand({
    usage: 'node list',
    about: 'lists the nodes and how they are',
    options: WHERE,
    run: (where) => withOperator(where, async ({ registry }) => table(await registry.list())),
  }),
  programCommand({
    usage: 'node revoke <name>',
    about: 'takes a node out of service; "node add" of the same name lets it come back',
    options: WHERE,
    run: (where, [name]) =>
      withOperator(where, async ({ desk }) => {
        const node = checkedName(name);
        await desk.ask('revokeNode', { node });
        return `${node} is revoked: it has no link within a heartbeat, and makes no other`;
      }),
  }),
  programCommand({
    usage: 'node approve <name>',
    about:
      'lets a node connect whose key waits (ENROLMENT_APPROVAL), and take SIMs again; compare the fingerprint first',
    options: {
      ...WHERE,
      fingerprint: filterOption('approve it only if this is that of its key', fingerprintSchema),
    },
    run: ({ fingerprint, ...where }, [name]) =>
      withOperator(where, async ({ desk }) => {
        const node = checkedName(name);
        const approved = await desk.ask('approveNode', { node, fingerprint });
        return `${node} may connect with the key ${approved.fingerprint}`;
      }),
  }),
];

function table(nodes: readonly NodeListing[]): string {
  const rows = nodes.map(({ name, state, sims, alarms, unregistered_slots, code_until, ...node }) => [
    name,
    state,
    String(sims),
    [
      ...(node.is_suspended ? ['takes no new SIM until it is approved'] : []),
      ...shownRefusals(node.refused),
      ...(state === 'pending' && node.fingerprint !== null ? [node.fingerprint] : []),
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
