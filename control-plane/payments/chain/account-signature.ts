// Whether the code of an account accepts a signature (EIP-1271). The account is deployed, or the signature deploys it (ERC-6492). The check
// uses `eth_call`, which costs no gas.
import {
  type Address,
  BaseError,
  encodeDeployData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  type Hex,
  hexToBool,
  isErc6492Signature,
  type PublicClient,
  parseErc6492Signature,
  RawContractError,
  size,
} from 'viem';
import { SIGNATURE_BYTES_MAX } from '#shared/api/requests.ts';
import { Refusal } from '../../domain/refusal.ts';
import { isUnreachable } from './rpc.ts';

/** Concurrent calls. */
const CALLS_MAX = 16;

/**
 * Enough to deploy an account and to check the signatures of many owners. It bounds the work of a node, whatever a stranger's code does.
 */
const CALL_GAS_MAX = 5_000_000n;

const RETRY_AFTER_SECONDS = 1;

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
   * Whether the code at `account`, or the code that the signature deploys there, accepts it for the digest. False for an address without
   * code. Throws `Refusal` `overloaded` when too many calls are under way; rejects when the RPC cannot be reached.
   */
  isAccepted(account: Address, digest: Hex, signature: Hex): Promise<boolean>;
}

export function accountSignatures(
  chainId: number,
  client: Pick<PublicClient, 'call' | 'getCode'>,
): AccountSignatures {
  let calls = 0;

  async function ask(account: Address, digest: Hex, signature: Hex): Promise<boolean> {
    if (!isErc6492Signature(signature) && (await client.getCode({ address: account })) === undefined) {
      return false;
    }
    const data = encodeDeployData({
      abi: erc6492SignatureValidatorAbi,
      args: [account, digest, signature],
      bytecode: erc6492SignatureValidatorByteCode,
    });
    try {
      const { data: answer } = await client.call({ data, gas: CALL_GAS_MAX });
      return (
        answer !== undefined && size(answer) > 0 && size(answer) <= 32 && hexToBool(answer, { size: 32 })
      );
    } catch (error) {
      if (isUnreachable(error) || !isExecution(error)) throw error;
      return false;
    }
  }

  return {
    chainId,
    async isAccepted(account, digest, signature) {
      if (calls >= CALLS_MAX) throw overloaded();
      calls += 1;
      try {
        return await ask(account, digest, signature);
      } finally {
        calls -= 1;
      }
    },
  };
}

/** Whether the RPC ran the code and the code failed. */
const isExecution = (error: unknown): boolean =>
  error instanceof BaseError &&
  (error.walk((cause) => cause instanceof RawContractError) !== null ||
    /revert|out of gas|invalid opcode|invalid jump|stack (under|over)flow|gas required exceeds/i.test(
      error.details,
    ));

const overloaded = (): Refusal =>
  new Refusal(
    'overloaded',
    'Too many account signatures are being checked. Nothing was charged. Try again.',
    {
      headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
    },
  );
