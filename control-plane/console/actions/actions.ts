// The console's actions: the input of each, the procedure that it calls, and the page to return to.
import { type Operator, PROCEDURES } from '../../operator/procedures/all-procedures.ts';
import type { ActionName } from './action-words.ts';
import { nodePath, numberPath, paymentPath, slotPath } from './paths.ts';
import { type RefundSender, refundSchema } from './refunds.ts';

type Fields = Readonly<Record<string, string>>;

interface ActionParts {
  operator: Operator;
  /** Where the service has a key for it. */
  refunds: RefundSender | undefined;
}

export interface Action {
  /** Fields that are asked for; the others stand in the link. */
  asks: ReadonlyArray<'reason' | 'to'>;
  /** Its target, for the operator who confirms. */
  subject(fields: Fields): string;
  /** The text that the operator compares before confirming. */
  compared?(fields: Fields): string;
  /** Throws `OperatorError`, and `ZodError` for fields that the procedure does not accept. */
  run(fields: Fields, parts: ActionParts): Promise<void>;
  /** The page to come back to. */
  path(fields: Fields): string;
}

const slotOf = ({ node = '', slot = '' }: Fields): { node: string; slot: string } => ({ node, slot });

/** Only the key that was shown: another one may have come since. */
const approvalSchema = PROCEDURES.approveNode.input.required();

const aboutSlot = {
  asks: [],
  subject: ({ node, slot }: Fields) => `${node} ${slot}`,
  path: (fields: Fields) => slotPath(slotOf(fields)),
} as const;

const aboutNode = {
  asks: [],
  subject: ({ node = '' }: Fields) => node,
  path: ({ node = '' }: Fields) => nodePath(node),
} as const;

export const ACTIONS: Readonly<Record<ActionName, Action>> = {
  'slot-out-of-service': {
    ...aboutSlot,
    asks: ['reason'],
    run: (fields, { operator }) => call(operator, 'takeSlotOutOfService', fields),
  },
  'slot-in-service': {
    ...aboutSlot,
    run: (fields, { operator }) => call(operator, 'putSlotInService', fields),
  },
  'restart-modem': { ...aboutSlot, run: (fields, { operator }) => call(operator, 'restartModem', fields) },
  'send-test': {
    asks: ['to'],
    subject: ({ from = '' }) => from,
    run: async ({ from = '', to = '' }, { operator }) => {
      await operator.call('sendTest', { from, to, inService: true });
    },
    path: () => '/probes',
  },
  'revoke-node': { ...aboutNode, run: (fields, { operator }) => call(operator, 'revokeNode', fields) },
  'approve-node': {
    ...aboutNode,
    compared: ({ fingerprint = '' }) => fingerprint,
    run: async (fields, { operator }) => {
      await operator.call('approveNode', approvalSchema.parse(fields));
    },
  },
  'release-number': {
    asks: [],
    subject: ({ number = '' }) => number,
    run: (fields, { operator }) => call(operator, 'releaseNumber', fields),
    path: ({ number = '' }) => numberPath(number),
  },
  'admit-number': {
    asks: [],
    subject: ({ number = '' }) => number,
    run: (fields, { operator }) => call(operator, 'admitNumber', fields),
    path: ({ number = '' }) => numberPath(number),
  },
  'transfer-sim': { ...aboutSlot, run: (fields, { operator }) => call(operator, 'transferSim', fields) },
  refund: {
    asks: ['reason'],
    subject: ({ id = '' }) => id,
    run: async (fields, { operator, refunds }) => {
      const { id, reason } = refundSchema.parse(fields);
      if (refunds === undefined)
        throw new Error('the console has no key for this refund: run "control-plane payment refund"');
      await refunds.send(operator, id, reason);
    },
    path: ({ id = '' }) => paymentPath(id),
  },
};

type PlainProcedure =
  | ('takeSlotOutOfService' | 'putSlotInService' | 'restartModem')
  | ('revokeNode' | 'releaseNumber' | 'admitNumber' | 'transferSim');

/** The fields are text; the schema of the procedure checks them. */
async function call(operator: Operator, name: PlainProcedure, fields: Fields): Promise<void> {
  await operator.call(name, PROCEDURES[name].input.parse(fields));
}
