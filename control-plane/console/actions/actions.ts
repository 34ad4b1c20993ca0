// The console's actions: the input of each, the procedure that it calls, and the page to return to.
import type * as z from 'zod';
import type { Desk } from '../../operator/desk.ts';
import { DESK_INPUTS } from '../../operator/desk-inputs.ts';
import type { ActionName } from './action-words.ts';
import { nodePath, numberPath, paymentPath, slotPath } from './paths.ts';
import { type RefundDesk, refundSchema } from './refunds.ts';

type Fields = Readonly<Record<string, string>>;

export interface ActionParts {
  desk: Desk;
  /** Where the service has a key for it. */
  refunds: RefundDesk | undefined;
}

export interface Action {
  /** Fields that are asked for; the others stand in the link. */
  asks: ReadonlyArray<'reason' | 'to'>;
  /** Its target, for the operator who confirms. */
  subject(fields: Fields): string;
  /** The text that the operator compares before confirming. */
  compared?(fields: Fields): string;
  /** Throws `OperatorRefusal` when the state of things does not allow it, `ZodError` for fields that are none. */
  run(fields: Fields, parts: ActionParts): Promise<void>;
  /** The page to come back to. */
  path(fields: Fields): string;
}

const slotOf = ({ node = '', slot = '' }: Fields): { node: string; slot: string } => ({ node, slot });

/** Only the key that was shown: another one may have come since. */
const approvalSchema = DESK_INPUTS.approveNode.required();

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
    run: (fields, { desk }) => ask(desk, 'takeSlotOutOfService', fields),
  },
  'slot-in-service': { ...aboutSlot, run: (fields, { desk }) => ask(desk, 'putSlotInService', fields) },
  'restart-modem': { ...aboutSlot, run: (fields, { desk }) => ask(desk, 'restartModem', fields) },
  'send-test': {
    asks: ['to'],
    subject: ({ from = '' }) => from,
    run: async ({ from = '', to = '' }, { desk }) => {
      await desk.ask('sendTest', { from, to, inService: true });
    },
    path: () => '/probes',
  },
  'revoke-node': { ...aboutNode, run: (fields, { desk }) => ask(desk, 'revokeNode', fields) },
  'approve-node': {
    ...aboutNode,
    compared: ({ fingerprint = '' }) => fingerprint,
    run: async (fields, { desk }) => {
      await desk.ask('approveNode', approvalSchema.parse(fields));
    },
  },
  'release-number': {
    asks: [],
    subject: ({ number = '' }) => number,
    run: (fields, { desk }) => ask(desk, 'releaseNumber', fields),
    path: ({ number = '' }) => numberPath(number),
  },
  'admit-number': {
    asks: [],
    subject: ({ number = '' }) => number,
    run: (fields, { desk }) => ask(desk, 'admitNumber', fields),
    path: ({ number = '' }) => numberPath(number),
  },
  'transfer-sim': { ...aboutSlot, run: (fields, { desk }) => ask(desk, 'transferSim', fields) },
  refund: {
    asks: ['reason'],
    subject: ({ id = '' }) => id,
    run: async (fields, { desk, refunds }) => {
      const { id, reason } = refundSchema.parse(fields);
      if (refunds === undefined) throw new Error('refunds are offered where there is a key only');
      await refunds.send(desk, id, reason);
    },
    path: ({ id = '' }) => paymentPath(id),
  },
};

type PlainCall =
  | ('takeSlotOutOfService' | 'putSlotInService' | 'restartModem')
  | ('revokeNode' | 'releaseNumber' | 'admitNumber' | 'transferSim');

/** The fields are text; the schema of the procedure checks them. */
async function ask(desk: Desk, call: PlainCall, fields: Fields): Promise<void> {
  const input: z.input<(typeof DESK_INPUTS)[typeof call]> = DESK_INPUTS[call].parse(fields);
  await desk.ask(call, input);
}
