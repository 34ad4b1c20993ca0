// Watches what our relayer has for gas, and warns before it runs dry.
import type { Logger } from '#shared/log.ts';
import type { RelayerWallet } from './relayer-wallet.ts';

/** What a relayer has. */
export interface RelayerFunds {
  balanceWei: bigint;
  /** Transfers that are paid by it at the present fee. */
  transfers: number;
}

export interface GasWatchParts {
  /** By chain id. */
  wallets: ReadonlyMap<number, RelayerWallet>;
  /** A chain that is closed is not asked. */
  isOpen(chainId: number): boolean;
  /** With fewer transfers left than this it warns. */
  transfersMin: number;
  log: Logger;
  /** Told of every reading. */
  onFunds: (chainId: number, funds: RelayerFunds) => void;
}

type Level = 'enough' | 'low' | 'empty';

export class GasWatch {
  readonly #parts: GasWatchParts;
  /** As they were told last. */
  readonly #levels = new Map<number, Level>();

  constructor(parts: GasWatchParts) {
    this.#parts = parts;
  }

  /** Reads every balance; a chain that does not answer is logged. Never rejects. */
  async look(): Promise<void> {
    const { isOpen, log, onFunds, wallets } = this.#parts;
    const open = [...wallets].filter(([chainId]) => isOpen(chainId));
    const reading = open.map(async ([chainId, wallet]) => {
      try {
        const funds = await wallet.funds();
        onFunds(chainId, funds);
        this.#tell(chainId, wallet, funds);
      } catch (error) {
        log.warn({ err: error, chainId }, 'cannot read what the relayer has for gas');
      }
    });
    await Promise.all(reading);
  }

  #tell(chainId: number, { address }: RelayerWallet, { balanceWei, transfers }: RelayerFunds): void {
    const { log, transfersMin } = this.#parts;
    const level = transfers === 0 ? 'empty' : transfers < transfersMin ? 'low' : 'enough';
    const before = this.#levels.get(chainId) ?? 'enough';
    this.#levels.set(chainId, level);
    if (level === before) return;
    const about = { chainId, relayer: address, balanceWei: String(balanceWei), transfers };
    if (level === 'empty') log.error(about, 'the relayer cannot pay for gas: nobody can subscribe');
    else if (level === 'low') log.warn(about, 'the relayer runs out of gas soon: send it some');
    else log.info(about, 'the relayer has enough gas again');
  }
}
