// The ledger of refunds of the running service.
import type { RefundLedger } from '../payments/refund.ts';
import type { Desk } from './desk.ts';

export function refundLedgerOf(desk: Desk): RefundLedger {
  return {
    async find(id) {
      const { transfer, ...payment } = await desk.ask('refundable', { id });
      return {
        ...payment,
        transfer: { ...transfer, value: BigInt(transfer.value) },
      };
    },
    start: (id, refund, transferHash, reason) =>
      desk.ask('startRefund', { id, refund, transferHash, reason }),
    replace: (id, hash, refund, reason) => desk.ask('replaceRefund', { id, hash, refund, reason }),
    adopt: async (id, hash, mined) => {
      await desk.ask('adoptRefund', { id, hash, mined });
    },
    end: async (id, hash) => {
      await desk.ask('endRefund', { id, hash });
    },
  };
}
