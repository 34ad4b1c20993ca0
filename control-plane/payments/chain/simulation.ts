// Simulates a transfer before anything is signed: its effect and its cost.
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
  /** The gas limit of the transaction. */
  gas: bigint;
}

export type Simulation =
  /** `runsCode`: the transfer runs code of the payer's account. */
  | { kind: 'ok'; call: PricedCall; runsCode: boolean }
  /** It needs more gas than a transfer may use. */
  | { kind: 'too_costly' }
  /** `isUsed`: the authorization is already used or canceled, in a block or in a pending one. */
  | { kind: 'reverted'; reason: string; isUsed: boolean };

interface SimulationParts {
  publicClient: PublicClient;
  /** For calls that run a stranger's code. */
  foreignCode: PublicClient;
  /** Address of the relayer, if the network has one. */
  relayer: Address | undefined;
  isNonceUsed(authorization: TransferAuthorization): Promise<boolean>;
}

/** Any account may send the transfer. */
export async function simulate(
  { publicClient, foreignCode, relayer, isNonceUsed }: SimulationParts,
  authorization: TransferAuthorization,
): Promise<Simulation> {
  const isDeployed = (await publicClient.getCode({ address: authorization.from })) !== undefined;
  const runsCode = isDeployed || isErc6492Signature(authorization.signature);
  const { to, data, gasMax } = transferCall(authorization, isDeployed);
  try {
    // The simulated sender is the real one: account code may depend on it.
    const account = relayer ?? authorization.to;
    const needed = await foreignCode.estimateGas({ account, to, data, gas: gasMax });
    if (needed > gasMax) return { kind: 'too_costly' };
    const roomy = (needed * GAS_MARGIN_PERCENT) / 100n;
    return { kind: 'ok', runsCode, call: { to, data, gas: roomy < gasMax ? roomy : gasMax } };
  } catch (error) {
    if (isGasShort(error)) return { kind: 'too_costly' };
    const reverted = revertOf(error);
    if (reverted === undefined) throw error;
    const reason = reverted.reason ?? reverted.shortMessage;
    // The message is Circle's and also covers a pending block; other tokens use other messages.
    const isUsed = /used or canceled/i.test(reason) || (await isNonceUsed(authorization));
    return { kind: 'reverted', reason, isUsed };
  }
}

/** The revert that ended a call; undefined if the call was not run. */
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

/** Whether the RPC reports that the call ran out of gas: above the allowance, or above a block's limit. */
const isGasShort = (error: unknown): boolean =>
  error instanceof BaseError &&
  /out of gas|outofgas|gas required exceeds|exceeds block gas limit/i.test(
    `${error.shortMessage} ${error.details}`,
  );
