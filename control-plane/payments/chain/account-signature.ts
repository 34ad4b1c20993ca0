// Whether the code of an account accepts a signature (EIP-1271). The account is deployed, or the signature deploys it (ERC-6492). The check
// uses `eth_call`, which costs no gas.
import {
  type Address,
  encodeDeployData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  type Hex,
  isErc6492Signature,
  type PublicClient,
  parseErc6492Signature,
  size,
  toHex,
} from 'viem';
import { SIGNATURE_BYTES_MAX } from '#shared/api/requests.ts';
import { isFailedExecution, isUnreachable } from './rpc.ts';

/**
 * Four times what a transfer may use that deploys its account. It bounds the work of a node, whatever a stranger's code does.
 */
const CALL_GAS_MAX = 2_000_000n;

const PATTERN = /^0x(?:[0-9a-fA-F]{2})+$/;

/**
 * The bytes of a signature in an account's own format. Undefined for text that is not hexadecimal or is too long, and for a malformed
 * ERC-6492 signature.
 */
export function signatureBytes(text: string): Hex | undefined {
  if (!PATTERN.test(text) || size(text as Hex) > SIGNATURE_BYTES_MAX) return undefined;
  const signature = text.toLowerCase() as Hex;
  try {
    parseErc6492Signature(signature);
  } catch {
    return undefined;
  }
  return signature;
}

/** Checks signatures with the code of accounts on one chain. */
export interface AccountSignatures {
  readonly chainId: number;
  /**
   * Whether the code at `account` accepts the signature for the digest, or the code that the signature deploys there if there is none.
   * Rejects when the RPC cannot be reached. Strangers' code runs meanwhile: callers limit the calls.
   */
  isAccepted(account: Address, digest: Hex, signature: Hex): Promise<boolean>;
}

/** `foreignCode`: the client for calls that run a stranger's code. */
export function accountSignatures(
  chainId: number,
  clients: { publicClient: Pick<PublicClient, 'getCode'>; foreignCode: Pick<PublicClient, 'request'> },
): AccountSignatures {
  const { publicClient, foreignCode } = clients;

  async function validate(account: Address, digest: Hex, signature: Hex): Promise<boolean> {
    const data = encodeDeployData({
      abi: erc6492SignatureValidatorAbi,
      args: [account, digest, signature],
      bytecode: erc6492SignatureValidatorByteCode,
    });
    try {
      const call = { data, gas: toHex(CALL_GAS_MAX) };
      // Some nodes report code that failed as an error of their own, which viem would ask for again.
      const answer = await foreignCode.request(
        { method: 'eth_call', params: [call, 'latest'] },
        { retryCount: 0 },
      );
      return answer.length <= ANSWER_CHARACTERS_MAX && /^0x0*1$/.test(answer);
    } catch (error) {
      if (isUnreachable(error) || !isFailedExecution(error)) throw error;
      return false;
    }
  }

  return {
    chainId,
    async isAccepted(account, digest, signature) {
      const { address: factory, signature: inner } = parseErc6492Signature(signature);
      const isDeployed = (await publicClient.getCode({ address: account })) !== undefined;
      if (!isDeployed) return factory !== undefined && validate(account, digest, signature);
      // ERC-6492 lets a verifier call the factory for a deployed account, too. Here only its code decides, as it does for the transfer: anyone
      // could name any factory for any account. The validator calls the factory of a signature inside a signature.
      return !isErc6492Signature(inner) && validate(account, digest, inner);
    },
  };
}

/** A word in hexadecimal. */
const ANSWER_CHARACTERS_MAX = 66;
