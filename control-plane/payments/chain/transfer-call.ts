// The call that moves the authorized money, and its gas limit. If the account is not deployed yet, the same transaction first deploys it
// with the factory that its signature names (ERC-6492).
import { type Address, encodeFunctionData, type Hex, multicall3Abi, parseErc6492Signature } from 'viem';
import type { TransferAuthorization } from '../../domain/transfer-authorization.ts';
import { TOKEN_ABI } from './token-events.ts';

/**
 * Gas of one transfer. USDC on Base takes up to 104,000 for the signature of a key, 125,000 for a Safe, 143,000 for a passkey. The rest is
 * for account code that checks its own signatures (EIP-1271). Code may burn all the gas it gets, so this is the most that a fraudster can
 * cost the relayer.
 */
export const TRANSFER_GAS_MAX = 200_000n;

/** Gas of one transfer that deploys its account first: 352,000 for a Safe, 335,000 for a smart wallet with a passkey. */
export const DEPLOYMENT_GAS_MAX = 500_000n;

/**
 * The same address on every chain (https://www.multicall3.com). It holds no funds and has no rights, so a factory can take nothing from it.
 */
const MULTICALL3: Address = '0xcA11bde05977b3631167028862bE2a173976CA11';

interface TransferCall {
  to: Address;
  data: Hex;
  /** The gas limit of the transfer. */
  gasMax: bigint;
}

/** `isDeployed`: the payer's address has code. */
export function transferCall(authorization: TransferAuthorization, isDeployed: boolean): TransferCall {
  const { asset } = authorization;
  const { address: factory, data, signature } = parseErc6492Signature(authorization.signature);
  const transfer = tokenData(authorization, signature);
  if (isDeployed || factory === undefined) {
    return { to: asset, data: transfer, gasMax: TRANSFER_GAS_MAX };
  }
  const calls = [
    // Another transaction may deploy it meanwhile.
    { target: factory, allowFailure: true, callData: data },
    { target: asset, allowFailure: false, callData: transfer },
  ];
  return {
    to: MULTICALL3,
    data: encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] }),
    gasMax: DEPLOYMENT_GAS_MAX,
  };
}

const tokenData = (authorization: TransferAuthorization, signature: Hex): Hex =>
  encodeFunctionData({
    abi: TOKEN_ABI,
    functionName: 'transferWithAuthorization',
    args: [
      authorization.from,
      authorization.to,
      authorization.value,
      authorization.validAfter,
      authorization.validBefore,
      authorization.nonce,
      signature,
    ],
  });
