// The operator procedures for delivery probes: the list, and a probe on request.
import { OperatorRefusal } from '../domain/operator-refusal.ts';
import type { NodeReach } from '../nodes/node-reach.ts';
import { findProbe, listProbes, summarizeProbes } from '../store/operations/probe-list.ts';
import { findTestPair } from '../store/operations/probe-pairs.ts';
import { type DeskCalls, page } from './desk-answers.ts';

export const probeDesk = ({
  now,
  nodes,
}: {
  now: () => Date;
  nodes: NodeReach;
}): DeskCalls<'sendTest' | 'probe' | 'probes' | 'probeSummary'> => ({
  sendTest: async ({ from, to, inService }, db) => {
    const { sender } = await findTestPair(db, { from, to, inService, now: now() });
    return nodes.ask(sender.node, { call: 'sendTest', from, to });
  },
  probe: async ({ id }, db) => {
    const row = await findProbe(db, id);
    if (row === undefined) throw new OperatorRefusal(`there is no probe ${id}`);
    return row;
  },
  probes: async (query, db) => page(await listProbes(db, query), query.limit, ({ position }) => position),
  probeSummary: ({ by, span }, db) => summarizeProbes(db, { by, span, now: now() }),
});
