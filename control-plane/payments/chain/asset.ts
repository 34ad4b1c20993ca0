// A token's own description of itself.
import { type Address, domainSeparator, type PublicClient } from 'viem';
import { TOKEN_ABI } from './token-events.ts';

/** Throws if the token's domain separator does not match its name and version, or if the RPC serves another chain. */
export async function readAsset(
  publicClient: PublicClient,
  { asset, chainId: wanted }: { asset: Address; chainId: number },
): Promise<{ name: string; version: string; decimals: number }> {
  const chainId = await publicClient.getChainId();
  if (chainId !== wanted) {
    throw new Error(`the RPC serves chain ${chainId}, not ${wanted}`);
  }
  const token = { address: asset, abi: TOKEN_ABI } as const;
  const [name, version, decimals, separator] = await Promise.all([
    publicClient.readContract({ ...token, functionName: 'name' }),
    publicClient.readContract({ ...token, functionName: 'version' }),
    publicClient.readContract({ ...token, functionName: 'decimals' }),
    publicClient.readContract({ ...token, functionName: 'DOMAIN_SEPARATOR' }),
  ]);
  const expected = domainSeparator({ domain: { name, version, chainId, verifyingContract: asset } });
  if (separator !== expected) {
    throw new Error(
      `its domain separator ${separator} is not that of "${name}" version "${version}": ${expected}`,
    );
  }
  return { name, version, decimals };
}
