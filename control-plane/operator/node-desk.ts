// The operator procedures for nodes and their slots.

import { OperatorRefusal } from '../domain/operator-refusal.ts';
import type { NodeReach } from '../nodes/node-reach.ts';
import { approveNode } from '../store/fleet/node-approval.ts';
import { revokeNode } from '../store/fleet/nodes.ts';
import { transferSim } from '../store/fleet/sim-transfer.ts';
import { listSlots, putSlotIn, refuseUnknown, takeSlotOut } from '../store/fleet/slot-service.ts';
import { type DeskCalls, page } from './desk-answers.ts';

type NodeCall =
  | ('slots' | 'takeSlotOutOfService' | 'putSlotInService' | 'transferSim' | 'restartModem')
  | ('revokeNode' | 'approveNode');

export interface NodeDeskParts {
  now: () => Date;
  nodes: NodeReach;
}

export const nodeDesk = ({ now, nodes }: NodeDeskParts): DeskCalls<NodeCall> => ({
  slots: async (query, db) =>
    page(await listSlots(db, query, now()), query.limit, ({ node, slot }) => ({ node, slot })),
  takeSlotOutOfService: async ({ node, slot, reason }, db) => {
    await takeSlotOut(db, { node, slot, reason, by: 'operator', now: now() });
    return null;
  },
  putSlotInService: async ({ node, slot }, db) => {
    await putSlotIn(db, { node, slot, now: now() });
    return null;
  },
  transferSim: ({ node, slot }, db) => transferSim(db, { node, slot, now: now() }),
  restartModem: async ({ node, slot, force }, db) => {
    await refuseUnknown(db, { node, slot });
    await nodes.ask(node, { call: 'restartModem', slot, force });
    return null;
  },
  revokeNode: async ({ node }, db) => {
    if (!(await revokeNode(db, node, now()))) throw new OperatorRefusal(`there is no node "${node}"`);
    return null;
  },
  approveNode: ({ node, fingerprint }, db) => approveNode(db, node, fingerprint),
});
