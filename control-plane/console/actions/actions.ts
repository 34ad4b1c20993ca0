// The console's actions: the input of each, the procedure that it calls, and the page to return to.
import { type Operator, PROCEDURES } from '../../operator/procedures/all-procedures.ts';
import { cardTextSchema } from '../../operator/procedures/fields.ts';
import type { ActionName } from './action-words.ts';
import { nodePath, numberPath, paymentPath, slotPath } from './paths.ts';
import { endSchema, type RefundSender, refundSchema } from './refunds.ts';

type Fields = Readonly<Record<string, string>>;

interface ActionParts {
  operator: Operator;
  /** Where the service has a key for it. */
  refunds: RefundSender | undefined;
}

/** Fields of the form. */
export type AskedField = 'reason' | 'to' | 'card' | 'days';

export interface Action {
  /** Fields that are asked for; the others are in the link. */
  asks: ReadonlyArray<AskedField>;
  /** Its target, for the operator who confirms. */
  subject(fields: Fields): string;
  /** Customers of the node lose their service: they are named first. */
  cutsOff?: true;
  /** It sends money: the amount and the payer are named first. */
  refunds?: true;
  /** The text that the operator compares before confirming. */
  compared?(fields: Fields): string;
  /** Throws `OperatorError`, and `ZodError` for fields that the procedure does not accept. */
  run(fields: Fields, parts: ActionParts): Promise<void>;
  /** The page to come back to. */
  path(fields: Fields): string;
}

/** Only the key that was shown: another one may have come since. */
const approvalSchema = PROCEDURES.approveNode.input.required();

const aboutSlot = {
  asks: [],
  subject: ({ node, slot }: Fields) => `${node} ${slot}`,
  path: ({ node = '', slot = '' }: Fields) => slotPath({ node, slot }),
} as const;

const aboutNode = {
  asks: [],
  subject: ({ node = '' }: Fields) => node,
  path: ({ node = '' }: Fields) => nodePath(node),
} as const;

const aboutNumber = {
  asks: [],
  subject: ({ number = '' }: Fields) => number,
  path: ({ number = '' }: Fields) => numberPath(number),
} as const;

export const ACTIONS: Readonly<Record<ActionName, Action>> = {
  'slot-out-of-service': { ...aboutSlot, asks: ['reason'], run: calling('takeSlotOutOfService') },
  'slot-in-service': { ...aboutSlot, run: calling('putSlotInService') },
  'restart-modem': { ...aboutSlot, run: calling('restartModem') },
  'send-test': {
    asks: ['to'],
    subject: ({ from = '' }) => from,
    run: async ({ from = '', to = '' }, { operator }) => {
      await operator.call('sendTest', { from, to, inService: true });
    },
    path: () => '/probes',
  },
  'revoke-node': { ...aboutNode, cutsOff: true, run: calling('revokeNode') },
  'remove-node': { ...aboutNode, path: () => '/', run: calling('removeNode') },
  'approve-node': {
    ...aboutNode,
    compared: ({ fingerprint = '' }) => fingerprint,
    run: async (fields, { operator }) => {
      await operator.call('approveNode', approvalSchema.parse(fields));
    },
  },
  'release-number': { ...aboutNumber, run: calling('releaseNumber') },
  'admit-number': { ...aboutNumber, run: calling('admitNumber') },
  'move-number': {
    ...aboutNumber,
    asks: ['card', 'reason'],
    run: async ({ number = '', card, reason }, { operator }) => {
      const given = { number, card: cardTextSchema.parse(card), reason };
      await operator.call('moveNumber', PROCEDURES.moveNumber.input.parse(given));
    },
  },
  'reassign-number': {
    ...aboutNumber,
    asks: ['reason'],
    // Not a number that a link brings along.
    run: async ({ id, number, reason }, { operator }) => {
      await operator.call('reassignNumber', PROCEDURES.reassignNumber.input.parse({ id, number, reason }));
    },
  },
  'extend-subscription': {
    ...aboutNumber,
    asks: ['days', 'reason'],
    run: async ({ id, number, days, reason }, { operator }) => {
      const given = { id, number, days: Number(days), reason };
      await operator.call('extendSubscription', PROCEDURES.extendSubscription.input.parse(given));
    },
  },
  'end-subscription': { ...aboutNumber, asks: ['reason'], run: calling('endSubscription') },
  'end-and-refund': {
    ...aboutNumber,
    asks: ['reason'],
    refunds: true,
    run: async (fields, { operator, refunds }) => {
      const order = endSchema.parse(fields);
      if (refunds === undefined)
        throw new Error(
          'the console has no key for this refund: run "control-plane subscription end --refund"',
        );
      await refunds.end(operator, order);
    },
  },
  'transfer-sim': { ...aboutSlot, run: calling('transferSim') },
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
  | ('revokeNode' | 'removeNode' | 'releaseNumber' | 'admitNumber' | 'transferSim')
  | 'endSubscription';

/** The fields are text; the schema of the procedure checks them. */
function calling(name: PlainProcedure): Action['run'] {
  return async (fields, { operator }) => {
    await operator.call(name, PROCEDURES[name].input.parse(fields));
  };
}
