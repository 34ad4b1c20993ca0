// The simulated chain behind the interfaces that the service has for a chain and for its relayer's wallet, with an RPC that fails and
// lags as the weather is.
import { type Hex, HttpRequestError, RpcRequestError, toHex } from 'viem';
import type { AuthorizedTransfer } from '#control-plane/domain/transfer-authorization.ts';
import type { Use } from '#control-plane/payments/chain/authorization-use.ts';
import type { Chain } from '#control-plane/payments/chain/chain.ts';
import type { Simulation } from '#control-plane/payments/chain/simulation.ts';
import type { TransferResult } from '#control-plane/payments/chain/token-events.ts';
import { TRANSFER_GAS_MAX } from '#control-plane/payments/chain/transfer-call.ts';
import type { RelayedTransaction } from '#control-plane/payments/payment.ts';
import type { RelayerWallet } from '#control-plane/payments/relayer-wallet.ts';
import { type Authorization, addressOf, OFFER } from './authorizations.ts';
import type { Weather } from './plan.ts';
import { BLOCK_S, type ChainTransaction, SAFE_DEPTH, type SimulatedChain } from './simulated-chain.ts';
import type { Life, Turns } from './turns.ts';

const LOG_DEPTH = 45_000;
const LOG_LAG = 64;
/** Turns of a request that waits for a block. */
const AWAIT_TURNS = 6;

export interface World {
  chain: SimulatedChain;
  turns: Turns;
  random: (below: number) => number;
  weather: Weather;
  /** By nonce. */
  authorizations: Map<Hex, Authorization>;
  /** Every transaction that the relayer signed. */
  signed: Map<Hex, ChainTransaction>;
  /** The service has stored a transaction with it, or handed it to the facilitator: it may move money from now on. */
  noteSent(authorization: Authorization): void;
  /** Others can read it from now on, through the service. */
  noteShown(authorization: Authorization): void;
}

const unreachable = (): Error => new HttpRequestError({ url: 'http://rpc.invalid', details: 'no answer' });
const behind = (): Error =>
  new RpcRequestError({
    body: {},
    url: 'http://rpc.invalid',
    error: { code: -32000, message: 'header not found' },
  });

/** An RPC of the world for one life of the service. */
export function connect(world: World, life: Life): { chain: Chain; wallet: RelayerWallet } {
  const { chain, random, turns } = world;
  const call = <T>(name: string, work: (view: number) => T): Promise<T> =>
    turns.call(life, name, () => {
      const { weather } = world;
      const fails = weather.kind === 'away' || (weather.kind === 'flaky' && random(weather.oneIn) === 0);
      if (fails && (weather.kind === 'away' || random(2) === 0)) throw unreachable();
      const lag = weather.kind === 'lagging' ? random(weather.blocks + 1) : 0;
      const value = work(chain.head - lag);
      if (fails) throw unreachable();
      return value;
    });
  const known = ({ nonce }: AuthorizedTransfer): Authorization => {
    const authorization = world.authorizations.get(nonce);
    if (authorization === undefined) throw new Error('an unsigned authorization');
    return authorization;
  };
  const blockOf = (number: number) => ({ number: BigInt(number), timestamp: BigInt(number * BLOCK_S) });

  function resultAt(authorization: Authorization, hash: Hex, view: number): TransferResult {
    const mined = chain.minedBy(hash, view);
    if (mined === undefined) return { kind: 'unknown' };
    const blockNumber = BigInt(mined.blockNumber);
    const isPaid = mined.outcome === 'paid' && mined.authorization === authorization;
    return isPaid
      ? { kind: 'transferred', transaction: hash, blockNumber }
      : { kind: 'reverted', blockNumber };
  }

  function simulationAt(authorization: Authorization, view: number): Simulation {
    const account = chain.accounts[authorization.payer];
    const refuse = (reason: string, isUsed = false): Simulation => ({ kind: 'reverted', reason, isUsed });
    if (chain.useOf(authorization, view) !== undefined)
      return refuse('authorization is used or canceled', true);
    if (view * BLOCK_S >= authorization.validBefore) return refuse('authorization is expired');
    if (account?.kind === 'costly') return { kind: 'too_costly' };
    if (chain.balanceOf(authorization.payer) < 1) return refuse('transfer amount exceeds balance');
    const runsCode = account?.kind !== 'key';
    return {
      kind: 'ok',
      runsCode,
      call: { to: OFFER.asset, data: authorization.nonce, gas: TRANSFER_GAS_MAX },
    };
  }

  function isUsedAt(authorization: Authorization, view: number, blockNumber?: bigint): boolean {
    // A node that has not that block yet does not answer for an earlier one.
    if (blockNumber !== undefined && blockNumber > BigInt(view)) throw behind();
    return chain.useOf(authorization, blockNumber === undefined ? view : Number(blockNumber)) !== undefined;
  }

  function add(raw: Hex): Hex {
    const transaction = world.signed.get(raw);
    if (transaction === undefined) throw new Error('an unsigned transaction');
    chain.add(transaction);
    if (transaction.kind === 'transfer') world.noteShown(transaction.authorization);
    return transaction.hash;
  }

  const findUse: Chain['findUse'] = (authorization) =>
    call('chain.findUse', (view): Use | undefined => {
      const use = chain.useOf(known(authorization), view);
      if (use === undefined || use.blockNumber < view - LOG_DEPTH) return undefined;
      const mined = { transaction: use.hash, blockNumber: BigInt(use.blockNumber) };
      if (use.outcome !== 'paid') return { kind: 'spent', ...mined };
      return { kind: 'paid', ...mined, isOurs: use.sender === 'relayer' };
    });
  const isLongUsed: Chain['isLongUsed'] = (authorization) =>
    call('chain.isLongUsed', (view) => isUsedAt(known(authorization), view, BigInt(view - LOG_LAG)));

  const client: Chain = {
    chainId: OFFER.chainId,
    readAsset: () => Promise.reject(new Error('not asked here')),
    simulate: (authorization) => call('chain.simulate', (view) => simulationAt(known(authorization), view)),
    broadcast: (raw) => call('chain.broadcast', () => add(raw)),
    minedNonceOf: () => call('chain.minedNonceOf', () => chain.minedNonce),
    nextNonceOf: () => call('chain.nextNonceOf', () => chain.pendingNonce),
    resultOf: (authorization, hash) =>
      call('chain.resultOf', (view) => resultAt(known(authorization), hash, view)),
    async awaitResult(authorization, hash, timeoutMs) {
      const endsAtMs = chain.clock.now() + timeoutMs;
      for (let turn = 0; turn < AWAIT_TURNS && chain.clock.now() < endsAtMs; turn += 1) {
        const result = await call('chain.awaitResult', (view) => resultAt(known(authorization), hash, view));
        if (result.kind !== 'unknown') return result;
        await turns.call(life, 'a block', () => void (random(2) === 0 && chain.mine(false)));
      }
      return { kind: 'unknown' };
    },
    isNonceUsed: (authorization, blockNumber) =>
      call('chain.isNonceUsed', (view) => isUsedAt(known(authorization), view, blockNumber)),
    findUse,
    isLongUsed,
    async findPresentedUse(authorization) {
      const use = await findUse(authorization);
      if (use !== undefined) return use;
      return (await isLongUsed(authorization)) ? 'long_used' : undefined;
    },
    safeBlock: () => call('chain.safeBlock', (view) => blockOf(view - SAFE_DEPTH)),
    head: () => call('chain.head', (view) => blockOf(view)),
    accounts: {
      chainId: OFFER.chainId,
      isAccepted: (account, _digest, signature) =>
        call('accounts.isAccepted', () => signature.endsWith(account.slice(2).toLowerCase())),
    },
  };

  const sentBefore = (raw: Hex): Signable => {
    const { nonce, ...before } = world.signed.get(raw) ?? {};
    if (nonce === undefined) throw new Error('an unsigned transaction');
    return { ...(before as ChainTransaction), nonce };
  };

  const wallet: RelayerWallet = {
    address: RELAYER,
    sign: ({ data, gas }) =>
      call('wallet.sign', () =>
        signed(world, {
          kind: 'transfer',
          nonce: chain.pendingNonce,
          gasLimit: gas,
          fee: chain.fee,
          authorization: known({ nonce: data } as never),
        }),
      ),
    raised: (transaction) =>
      call('wallet.raised', () => {
        const before = sentBefore(transaction.raw);
        return before.fee >= chain.fee ? undefined : signed(world, { ...before, fee: chain.fee });
      }),
    emptied: (transaction) =>
      call('wallet.emptied', () => {
        const before = sentBefore(transaction.raw);
        return signed(world, { ...before, kind: 'empty', fee: Math.max(chain.fee, before.fee + 1) });
      }),
    waiting: async () => 0,
    funds: () => Promise.reject(new Error('not asked here')),
  };
  return { chain: client, wallet };
}

const RELAYER = addressOf(0xfff);

type Signable = Pick<ChainTransaction, 'authorization' | 'fee' | 'gasLimit' | 'kind'> & { nonce: number };

function signed(
  { signed: all }: World,
  { authorization, fee, gasLimit, kind, nonce }: Signable,
): RelayedTransaction {
  const hash = toHex(0xfeed_0000 + all.size, { size: 32 });
  const raw = toHex(all.size, { size: 8 });
  all.set(raw, { hash, kind, authorization, sender: 'relayer', nonce, gasLimit, fee, isFirst: false });
  return { raw, hash, nonce, sender: RELAYER, isEmpty: kind === 'empty' };
}
