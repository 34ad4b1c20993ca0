// `control-plane node add | list | revoke | approve`: what an operator does with nodes, from the command line.
import { nodeNameSchema } from '#shared/link/node-name.ts';
import { alignedTable } from '#shared/process/aligned-table.ts';
import { programCommand } from '#shared/process/commands.ts';
import type { NodeListing } from '../../nodes/registry.ts';
import { fingerprintSchema } from '../desk-inputs.ts';
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
    about: 'Print a code that enrolls a node, or enrolls it again. The code works once, within a day.',
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
    about: 'List the nodes and their status.',
    options: WHERE,
    run: (where) => withOperator(where, async ({ registry }) => table(await registry.list())),
  }),
  programCommand({
    usage: 'node revoke <name>',
    about: 'Take a node out of service. "node add" with the same name brings it back.',
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
      'Approve the key of a pending node (ENROLMENT_APPROVAL), or let a suspended node take SIMs again. Compare the fingerprint first.',
    options: {
      ...WHERE,
      fingerprint: filterOption('Approve the node only if its key has this fingerprint', fingerprintSchema),
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
