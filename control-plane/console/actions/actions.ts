// The console's actions: the input of each, the procedure that it calls, and the page to return to.
import type * as z from 'zod';
import type { AnswerOf } from '#shared/operator/procedure.ts';
import { check } from '../../domain/checked-input.ts';
import type { CustomerEffect } from '../../domain/shown-value.ts';
import { type Operator, PROCEDURES } from '../../operator/procedures/all-procedures.ts';
import { placeSchema } from '../../operator/procedures/fields.ts';
import type { ActionName } from './action-words.ts';
import { nodePath, numberPath, paymentPath, slotPath } from './paths.ts';
import {
  extendSchema,
  extensionOf,
  moveSchema,
  previewExtend,
  previewMove,
  previewReassign,
  type ReadPreview,
  reassignOf,
  reassignSchema,
} from './previews.ts';
import { endSchema, type RefundCloser, type RefundSender, refundSchema } from './refunds.ts';

type Fields = Readonly<Record<string, string>>;
type Customers = AnswerOf<typeof PROCEDURES, 'customers'>;

interface ActionParts {
  operator: Operator;
  /** Where the service has a key for it. */
  refunds: RefundSender | undefined;
  closeRefund: RefundCloser;
}

/** Fields of the form. */
export type AskedField = 'reason' | 'card' | 'days' | 'recipient' | 'newNumber';

export interface Action {
  /** Fields that are asked for; the others are in the link. */
  asks: ReadonlyArray<AskedField>;
  /** Schema of the link's fields, checked before the question is shown: a link without a target is refused. */
  link?: z.ZodType;
  /** Its target, for the operator who confirms. */
  subject(fields: Fields): string;
  /** Read for the question, and sent along by the form: only what was shown is changed. */
  seen?(fields: Fields, operator: Operator): Promise<Fields>;
  /** Its effect on customers. They are named before the question. */
  concerns?: { effect: CustomerEffect; customers(fields: Fields, operator: Operator): Promise<Customers> };
  /** It sends money: the amount and the payer are named first. */
  refunds?: true;
  /** The text that the operator compares before confirming. */
  compared?(fields: Fields): string;
  /** The change as it would be done, shown once the fields are there. Nothing is done before the operator confirms it. */
  preview?: ReadPreview;
  /** Throws `OperatorError`, and `ZodError` for fields that the procedure does not accept. */
  run(fields: Fields, parts: ActionParts): Promise<void>;
  /** The page of what it is about, where a refused one leads back to. */
  path(fields: Fields): string;
  /** The page that shows the result, where that is another one. */
  resultPath?(fields: Fields): string;
}

/** Only the key that was shown: another one may have come since. */
const approvalSchema = PROCEDURES.approveNode.input.required();

// Only the customer and the end that were shown, as in previews.ts.
const endNowSchema = PROCEDURES.endSubscription.input.required({ number: true, expires_at: true });
const SEEN = { id: true, number: true, expires_at: true } as const;

/** Only the SIM that was shown: the node may report another one since. */
const transferSchema = PROCEDURES.transferSim.input.required({ expected: true });

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
  'slot-out-of-service': {
    ...aboutSlot,
    asks: ['reason'],
    concerns: { effect: 'kept', customers: inSlot },
    run: calling('takeSlotOutOfService'),
  },
  'slot-in-service': { ...aboutSlot, run: calling('putSlotInService') },
  'restart-modem': {
    ...aboutSlot,
    concerns: { effect: 'paused', customers: inSlot },
    run: calling('restartModem'),
  },
  'send-test': {
    asks: ['recipient'],
    subject: ({ from = '' }) => from,
    run: async ({ from = '', to = '' }, { operator }) => {
      await operator.call('sendTest', { from, to, inService: true });
    },
    path: () => '/probes',
  },
  'revoke-node': {
    ...aboutNode,
    concerns: {
      effect: 'lost',
      customers: (fields, operator) => operator.call('customers', check(PROCEDURES.revokeNode.input, fields)),
    },
    run: calling('revokeNode'),
  },
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
    concerns: {
      effect: 'kept',
      customers: (fields, operator) => operator.call('customers', check(PROCEDURES.retire.input, fields)),
    },
    preview: previewMove,
    run: async ({ number, card, expected, reason }, { operator }) => {
      const move = moveSchema.required({ expected: true }).parse({ number, card, expected, reason });
      await operator.call('moveNumber', move);
    },
  },
  'reassign-number': {
    ...aboutNumber,
    asks: ['newNumber', 'reason'],
    link: reassignSchema.pick({ id: true, number: true }),
    preview: previewReassign,
    run: async (fields, { operator }) => {
      await operator.call('reassignNumber', reassignSchema.required({ to: true }).parse(reassignOf(fields)));
    },
    resultPath: ({ to = '' }) => numberPath(to),
  },
  'extend-subscription': {
    ...aboutNumber,
    asks: ['days', 'reason'],
    link: extendSchema.pick(SEEN),
    preview: previewExtend,
    run: async (fields, { operator }) => {
      await operator.call('extendSubscription', extensionOf(fields));
    },
  },
  'end-subscription': {
    ...aboutNumber,
    asks: ['reason'],
    link: endNowSchema.pick(SEEN),
    run: async (fields, { operator }) => {
      await operator.call('endSubscription', endNowSchema.parse(fields));
    },
  },
  'end-and-refund': {
    ...aboutNumber,
    asks: ['reason'],
    link: endSchema.pick({ id: true, number: true }),
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
  'transfer-sim': {
    ...aboutSlot,
    subject: ({ node, slot, expected }) => `${node} ${slot}: ${expected}`,
    async seen(fields, operator) {
      const { iccid } = await operator.call('previewTransfer', check(placeSchema, fields));
      return { expected: iccid };
    },
    concerns: {
      effect: 'kept',
      customers: ({ expected }, operator) =>
        operator.call('customers', { iccid: check(transferSchema.shape.expected, expected) }),
    },
    run: async (fields, { operator }) => {
      await operator.call('transferSim', transferSchema.parse(fields));
    },
  },
  'close-payment': {
    asks: ['reason'],
    subject: ({ id = '' }) => id,
    run: async (fields, { operator, closeRefund }) => {
      const { id, reason } = refundSchema.parse(fields);
      await closeRefund(operator, id, reason);
    },
    path: ({ id = '' }) => paymentPath(id),
  },
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

function inSlot(fields: Fields, operator: Operator): Promise<Customers> {
  return operator.call('customers', check(placeSchema, fields));
}

type PlainProcedure =
  | ('takeSlotOutOfService' | 'putSlotInService' | 'restartModem')
  | ('revokeNode' | 'removeNode' | 'releaseNumber' | 'admitNumber');

/** The fields are text; the schema of the procedure checks them. */
function calling(name: PlainProcedure): Action['run'] {
  return async (fields, { operator }) => {
    await operator.call(name, PROCEDURES[name].input.parse(fields));
  };
}
