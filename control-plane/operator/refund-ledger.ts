// The ledger of refunds of the running service.
import type { RefundLedger } from '../payments/refund.ts';
import type { Operator } from './procedures/all-procedures.ts';

export function refundLedgerOf(operator: Operator): RefundLedger {
  return {
    async find(id) {
      const { transfer, ...payment } = await operator.call('refundable', { id });
      return {
        ...payment,
        transfer: { ...transfer, value: BigInt(transfer.value) },
      };
    },
    start: (id, refund, transferHash, reason) =>
      operator.call('startRefund', { id, refund, transferHash, reason }),
    replace: (id, hash, refund, reason) => operator.call('replaceRefund', { id, hash, refund, reason }),
    adopt: async (id, hash, mined) => {
      await operator.call('adoptRefund', { id, hash, mined });
    },
    end: async (id, hash) => {
      await operator.call('endRefund', { id, hash });
    },
  };
}
