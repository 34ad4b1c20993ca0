// The operator procedures that change something, and the audit entry of each: its target and its values, without secrets.
import { maskedNumber } from '../domain/masked-number.ts';
import type { DeskCall, DeskInput } from './desk-inputs.ts';

export interface Audited<C extends DeskCall> {
  /** `change`: of the database, noted with it; `command`: to a node, noted before it is tried. */
  how: 'change' | 'command';
  subject(input: DeskInput<C>): string;
  detail?(input: DeskInput<C>): Record<string, unknown>;
}

const slotOf = ({ node, slot }: { node: string; slot: string }): string => `${node}/${slot}`;
const change = <C extends DeskCall>(
  subject: Audited<C>['subject'],
  detail?: Audited<C>['detail'],
): Audited<C> => ({ how: 'change', subject, ...(detail === undefined ? {} : { detail }) });

const CALLS: { readonly [C in DeskCall]?: Audited<C> } = {
  takeOutOfService: change(
    ({ number }) => number,
    ({ reason }) => ({ reason }),
  ),
  putInService: change(({ number }) => number),
  retire: change(({ number }) => number),
  releaseNumber: change(({ number }) => number),
  admitNumber: change(({ number }) => number),
  importNumbers: change(
    () => 'numbers',
    ({ rows }) => ({ lines: rows.length }),
  ),
  voidPayment: change(
    ({ id }) => id,
    ({ why }) => ({ why }),
  ),
  endSubscription: change(
    ({ id }) => id,
    ({ reason }) => ({ reason }),
  ),
  startRefund: change(
    ({ id }) => id,
    ({ reason, refund, transferHash }) => ({ reason, hash: refund.hash, transfer_hash: transferHash }),
  ),
  replaceRefund: change(
    ({ id }) => id,
    ({ reason, refund, hash }) => ({ reason, hash: refund.hash, replaced_hash: hash }),
  ),
  adoptRefund: change(
    ({ id }) => id,
    ({ hash, mined }) => ({ hash: mined, replaced_hash: hash }),
  ),
  endRefund: change(
    ({ id }) => id,
    ({ hash }) => ({ hash }),
  ),
  takeSlotOutOfService: change(slotOf, ({ reason }) => ({ reason })),
  putSlotInService: change(slotOf),
  transferSim: change(slotOf),
  restartModem: { how: 'command', subject: slotOf, detail: ({ force }) => ({ force }) },
  revokeNode: change(({ node }) => node),
  approveNode: change(
    ({ node }) => node,
    ({ fingerprint }) => (fingerprint === undefined ? {} : { fingerprint }),
  ),
  addOperator: change(({ name }) => name),
  removeOperator: change(({ name }) => name),
  // One that was mistyped is a stranger's; the probe has those of ours.
  sendTest: {
    how: 'command',
    subject: ({ from }) => maskedNumber(from),
    detail: ({ to }) => ({ to: maskedNumber(to) }),
  },
};

export const auditedCall = <C extends DeskCall>(call: C): Audited<C> | undefined =>
  CALLS[call] as Audited<C> | undefined;
