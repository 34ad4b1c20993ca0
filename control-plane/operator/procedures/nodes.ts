// Nodes: the list, the code that enrolls one, its approval, and its end.
import * as z from 'zod';
import { iccidSchema } from '#shared/identities.ts';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { listNodes, newNodeCode, nodeCodeSchema, nodeListingSchema } from '../../nodes/registry.ts';
import { approveNode, revokeNode } from '../../store/fleet/nodes.ts';
import { findPrunable, prunableSchema, prune, removeNode } from '../../store/fleet/prune.ts';
import { findCustomers } from '../../store/fleet/sold-numbers.ts';
import { fingerprintSchema, nodeSchema, numberSchema, slotInputSchema } from './fields.ts';
import { change, procedure } from './procedure.ts';

const ofNode = z.object({ node: nodeSchema });
const subject = ({ node }: z.output<typeof ofNode>): string => node;

export const NODE_PROCEDURES = {
  nodes: procedure({
    input: z.object({}),
    output: z.array(nodeListingSchema),
    run: ({ db, now }) => listNodes(db, now),
  }),
  /** Answers with a code that enrolls the node, new or known. The code is returned this once; earlier codes are void. */
  addNode: procedure({
    input: ofNode,
    output: nodeCodeSchema.extend({ url: z.string() }),
    run: async ({ db, now, url }, { node }) => ({ ...(await newNodeCode(db, node, now)), url }),
    audit: {
      how: 'change',
      subject,
      detail: (_, answer) => ({ code_until: answer?.expires_at }),
    },
  }),
  /** Customers whose number the node, its slot or a card serves, or who have a number. */
  customers: procedure({
    input: z.union([
      ofNode.extend({ slot: slotInputSchema.optional() }),
      z.object({ iccid: iccidSchema }),
      z.object({ number: numberSchema }),
    ]),
    output: z.object({ count: z.number(), numbers: z.array(z.string()) }),
    run: ({ db, now }, of) => findCustomers(db, of, now),
  }),
  revokeNode: change(ofNode, {
    subject,
    async run({ db, now }, { node }) {
      if (!(await revokeNode(db, node, now))) throw new OperatorRefusal(`There is no node "${node}".`);
    },
    after: ({ nodes }, { node }) => nodes.recheck(node),
  }),
  /** Removes a revoked node whose SIMs have no subscription. */
  removeNode: change(ofNode, { subject, run: ({ db, now }, { node }) => removeNode(db, node, now) }),
  /** The nodes and slots that `prune` would remove. */
  prunable: procedure({
    input: z.object({}),
    output: prunableSchema,
    run: ({ db, now }) => findPrunable(db, now),
  }),
  /** Answers with what it removed. */
  prune: procedure({
    input: z.object({}),
    output: prunableSchema,
    audit: {
      how: 'change',
      subject: () => 'fleet',
      detail: (_, answer) =>
        answer === undefined
          ? {}
          : { nodes: answer.nodes, slots: answer.slots.map(({ node, slot }) => `${node}/${slot}`) },
    },
    run: ({ db, now }) => prune(db, now),
  }),
  /** With `fingerprint`: only if the key has it. Answers with the fingerprint of the key that may connect now. */
  approveNode: procedure({
    input: ofNode.extend({ fingerprint: fingerprintSchema.optional() }),
    output: z.object({ fingerprint: z.string() }),
    audit: {
      how: 'change',
      subject,
      detail: ({ fingerprint }) => (fingerprint === undefined ? {} : { fingerprint }),
    },
    run: ({ db }, { node, fingerprint }) => approveNode(db, node, fingerprint),
  }),
};
