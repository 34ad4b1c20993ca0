// Watches the present relayer's gas balance on each chain, and warns before it runs out.
import type { Logger } from '#shared/log.ts';
import type { RelayerWallet } from './relayer-wallet.ts';

/** A relayer's balance. */
interface RelayerFunds {
  balanceWei: bigint;
  /** Transfers that it can pay for at the present fee. */
  transfers: number;
}

interface GasWatchParts {
  /** By chain id. */
  wallets: ReadonlyMap<number, RelayerWallet>;
  /** Closed chains are not read. */
  isOpen(chainId: number): boolean;
  /** Warns when fewer transfers are left. */
  transfersMin: number;
  log: Logger;
  /** Called with every reading. */
  onFunds: (chainId: number, funds: RelayerFunds) => void;
}

type Level = 'enough' | 'low' | 'empty';

export class GasWatch {
  readonly #parts: GasWatchParts;
  /** The levels that were logged last. */
  readonly #levels = new Map<number, Level>();

  constructor(parts: GasWatchParts) {
    this.#parts = parts;
  }

  /** Reads every balance; logs a chain that does not respond. Never rejects. */
  async check(): Promise<void> {
    const { isOpen, log, onFunds, wallets } = this.#parts;
    const open = [...wallets].filter(([chainId]) => isOpen(chainId));
    const reading = open.map(async ([chainId, wallet]) => {
      try {
        const funds = await wallet.funds();
        onFunds(chainId, funds);
        this.#logChange(chainId, wallet, funds);
      } catch (error) {
        log.warn({ err: error, chainId }, 'reading the gas balance of the relayer failed');
      }
    });
    await Promise.all(reading);
  }

  #logChange(chainId: number, { address }: RelayerWallet, { balanceWei, transfers }: RelayerFunds): void {
    const { log, transfersMin } = this.#parts;
    const level = transfers === 0 ? 'empty' : transfers < transfersMin ? 'low' : 'enough';
    const before = this.#levels.get(chainId) ?? 'enough';
    this.#levels.set(chainId, level);
    if (level === before) return;
    const about = { chainId, relayer: address, balanceWei: String(balanceWei), transfers };
    if (level === 'empty')
      log.error(about, 'relayer cannot pay for gas: send ether to it; until then payments do not settle');
    else if (level === 'low') log.warn(about, 'relayer is low on gas: send ether to it');
    else log.info(about, 'relayer has enough gas again');
  }
}
