// What a transfer would do and cost, before anything is signed.
import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  getContractError,
  type Hex,
  isErc6492Signature,
  type PublicClient,
} from 'viem';
import type { TransferAuthorization } from '../../domain/transfer-authorization.ts';
import { TOKEN_ABI } from './token-events.ts';
import { transferCall } from './transfer-call.ts';

/** Room above the estimate: the state may change between estimate and block. */
const GAS_MARGIN_PERCENT = 130n;

/** A call that is ready to be signed. */
export interface PricedCall {
  to: Address;
  data: Hex;
  /** What it may use, the limit of the transaction. */
  gas: bigint;
}

export type Simulation =
  /** `runsCode`: the transfer runs code of the payer's. */
  | { kind: 'ok'; call: PricedCall; runsCode: boolean }
  /** It needs more gas than a transfer may. */
  | { kind: 'too_costly' }
  /** `isUsed`: used or cancelled already, in a block or in one to come. */
  | { kind: 'reverted'; reason: string; isUsed: boolean };

interface SimulationParts {
  /** Sends our transactions, where we do. */
  relayer: Address | undefined;
  isNonceUsed(authorization: TransferAuthorization): Promise<boolean>;
}

/** Anyone may send the transfer. */
export async function simulate(
  publicClient: PublicClient,
  { relayer, isNonceUsed }: SimulationParts,
  authorization: TransferAuthorization,
): Promise<Simulation> {
  const isDeployed = (await publicClient.getCode({ address: authorization.from })) !== undefined;
  const runsCode = isDeployed || isErc6492Signature(authorization.signature);
  const { to, data, gasMax } = transferCall(authorization, isDeployed);
  try {
    // Sent by whoever will send it: code may look at that.
    const account = relayer ?? authorization.to;
    const needed = await publicClient.estimateGas({ account, to, data, gas: gasMax });
    if (needed > gasMax) return { kind: 'too_costly' };
    const roomy = (needed * GAS_MARGIN_PERCENT) / 100n;
    return { kind: 'ok', runsCode, call: { to, data, gas: roomy < gasMax ? roomy : gasMax } };
  } catch (error) {
    if (isGasShort(error)) return { kind: 'too_costly' };
    const reverted = revertOf(error);
    if (reverted === undefined) throw error;
    const reason = reverted.reason ?? reverted.shortMessage;
    // The words are Circle's, and tell of a block that is not mined yet, too; other tokens have other words.
    const isUsed = /used or canceled/i.test(reason) || (await isNonceUsed(authorization));
    return { kind: 'reverted', reason, isUsed };
  }
}

/** What a call that the chain refused says; undefined where the call did not come so far. */
function revertOf(error: unknown): ContractFunctionRevertedError | undefined {
  if (!(error instanceof BaseError)) return undefined;
  const named = getContractError(error, {
    abi: TOKEN_ABI,
    args: [],
    functionName: 'transferWithAuthorization',
  });
  const reverted = named.walk((cause) => cause instanceof ContractFunctionRevertedError);
  return reverted instanceof ContractFunctionRevertedError ? reverted : undefined;
}

/** Whether the RPC says that the call ends for want of gas: more than was allowed, or than a block has. */
const isGasShort = (error: unknown): boolean =>
  error instanceof BaseError &&
  /out of gas|outofgas|gas required exceeds|exceeds block gas limit/i.test(
    `${error.shortMessage} ${error.details}`,
  );
