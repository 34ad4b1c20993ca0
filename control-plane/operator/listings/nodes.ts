// The list of nodes.
import type { Listing } from '#shared/operator/listing.ts';
import type { NodeListing } from '../../nodes/registry.ts';
import { nodeCell } from './cells.ts';
import { shownRefusals } from './shown-refusals.ts';

export const NODES: Listing<NodeListing> = {
  name: 'nodes',
  title: 'Nodes',
  empty: 'There is no node yet.',
  columns: [
    { title: 'Node', cell: ({ name }) => nodeCell(name) },
    { title: 'State', cell: ({ state }) => state },
    { title: 'SIMs', cell: ({ sims }) => String(sims) },
    { title: 'Note', cell: (node) => notesOf(node).join(', ') },
  ],
};

const notesOf = (node: NodeListing): string[] => [
  ...(node.is_suspended ? ['takes no new SIM until it is approved'] : []),
  ...shownRefusals(node.refused),
  ...(node.state === 'pending' && node.fingerprint !== null ? [node.fingerprint] : []),
  ...node.alarms,
  ...node.unregistered_slots.map(({ slot, state, reason }) =>
    reason === null ? `${slot} ${state}` : `${slot} ${state} (${reason})`,
  ),
  ...(node.code_until === null ? [] : [`code until ${node.code_until}`]),
];
