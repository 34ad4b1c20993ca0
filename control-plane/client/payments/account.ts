// The account that signs for a wallet, described by what this client calls: an account of any version of viem fits, and so does any other signer.

/** Text that starts with `0x`: bytes in hexadecimal, such as an address or a signature. */
export type Hex = `0x${string}`;

/** Typed data of EIP-712. `message` has bigint values for numbers. */
export interface TypedData {
  domain: { name: string; version: string; chainId: number; verifyingContract: Hex };
  types: { TransferWithAuthorization: { name: string; type: string }[] };
  primaryType: 'TransferWithAuthorization';
  message: Record<string, unknown>;
}

/** Signs without gas and without a connection to a chain. Both signatures are 0x-prefixed, usually of 65 bytes. */
export interface Account {
  /** 0x-prefixed address of 20 bytes. */
  readonly address: Hex;
  /** EIP-191, personal_sign. */
  signMessage(parameters: { message: string }): Promise<Hex>;
  /** EIP-712. */
  signTypedData(parameters: TypedData): Promise<Hex>;
}
