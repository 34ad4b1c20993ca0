// Waits for the result of a transaction that was sent for an authorization.
import {
  type Hex,
  type PublicClient,
  TransactionReceiptNotFoundError,
  WaitForTransactionReceiptTimeoutError,
} from 'viem';
import type { AuthorizedTransfer, TransferAuthorization } from '../../domain/transfer-authorization.ts';
import { resultIn, type TransferResult } from './token-events.ts';

const RECEIPT_POLL_MS = 200;

export function transferResults(publicClient: PublicClient) {
  async function resultOf(authorization: AuthorizedTransfer, hash: Hex): Promise<TransferResult> {
    try {
      const receipt = await publicClient.getTransactionReceipt({ hash });
      return resultIn(receipt, authorization, hash);
    } catch (error) {
      if (error instanceof TransactionReceiptNotFoundError) return { kind: 'unknown' };
      throw error;
    }
  }

  async function awaitResult(
    authorization: TransferAuthorization,
    hash: Hex,
    timeoutMs: number,
  ): Promise<TransferResult> {
    try {
      const receipt = await publicClient.waitForTransactionReceipt({
        hash,
        timeout: timeoutMs,
        pollingInterval: RECEIPT_POLL_MS,
      });
      return resultIn(receipt, authorization, hash);
    } catch (error) {
      if (error instanceof WaitForTransactionReceiptTimeoutError) return { kind: 'unknown' };
      throw error;
    }
  }

  return { resultOf, awaitResult };
}
