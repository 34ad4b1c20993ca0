// The interface of a token (EIP-20, EIP-3009), and the result of one authorization in the log of a mined transaction.
import { type Hex, isAddressEqual, parseAbi, parseEventLogs, type TransactionReceipt } from 'viem';
import type { AuthorizedTransfer } from '../../domain/transfer-authorization.ts';

export const TOKEN_ABI = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function decimals() view returns (uint8)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);

/** The result of a transaction. */
export type TransferResult =
  /** `transaction`: the mined one. Its fee, and so its hash, may differ from those of the requested one. */
  | { kind: 'transferred'; transaction: Hex; blockNumber: bigint }
  /** This transaction itself was mined in that block, and did not move the money. */
  | { kind: 'reverted'; blockNumber: bigint }
  /** It is not mined, as far as the RPC knows. */
  | { kind: 'unknown' };

/** The result in the receipt of the transaction `hash`. The receipt may be of another transaction with the same nonce. */
export function resultIn(
  receipt: TransactionReceipt,
  authorization: AuthorizedTransfer,
  hash: Hex,
): TransferResult {
  const { transactionHash: transaction, blockNumber } = receipt;
  if (isPaid(receipt, authorization)) return { kind: 'transferred', transaction, blockNumber };
  if (transaction !== hash) return { kind: 'unknown' };
  return { kind: 'reverted', blockNumber };
}

// The token logs the use of an authorization directly before its transfer. Any other transfer of the same payer in the transaction belongs
// to another authorization.
export function isPaid(receipt: TransactionReceipt, authorization: AuthorizedTransfer): boolean {
  if (receipt.status !== 'success') return false;
  const ours = receipt.logs.filter((log) => isAddressEqual(log.address, authorization.asset));
  const logs = parseEventLogs({ abi: TOKEN_ABI, eventName: ['AuthorizationUsed', 'Transfer'], logs: ours });
  return logs.some((used, index) => {
    const transfer = logs[index + 1];
    return (
      used.eventName === 'AuthorizationUsed' &&
      isAddressEqual(used.args.authorizer, authorization.from) &&
      used.args.nonce === authorization.nonce &&
      transfer?.eventName === 'Transfer' &&
      transfer.logIndex === used.logIndex + 1 &&
      isAddressEqual(transfer.args.from, authorization.from) &&
      isAddressEqual(transfer.args.to, authorization.to) &&
      transfer.args.value === authorization.value
    );
  });
}
