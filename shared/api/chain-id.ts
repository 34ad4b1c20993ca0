// The chains that payment clients know (EIP-155): Base, and its test chain Base Sepolia.

export type ChainId = 8453 | 84532;
