// A wallet that pays for another year again and again, and the account of its money.
import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';
import type { Address, Hex } from 'viem';
import { type PaidChain, PRICE } from '../../fixtures/chain/paid-chain.ts';
import { paySubscribe, recoverToken } from '../../fixtures/payments/payer.ts';
import { until } from '../../fixtures/until.ts';

/** Seldom enough that the years that a wallet may have ahead last for all rounds. */
const PAUSE_MS = 2_000;
const REQUEST_TIMEOUT_MS = 40_000;
/** A claim that a fault left behind is given up after two minutes, in the round of the minute after that. */
const SETTLED_TIMEOUT_MS = 210_000;

export class Payer {
  readonly #parts: { url: string; chain: PaidChain };
  readonly #wallet: { address: Address; privateKey: Hex };
  readonly #stopping = new AbortController();
  readonly #firstYear: number;
  readonly #spentBefore: bigint;
  #running: Promise<void> | undefined;
  paid = 0;

  private constructor(
    parts: { url: string; chain: PaidChain },
    wallet: { address: Address; privateKey: Hex },
    before: { year: number; balance: bigint },
  ) {
    this.#parts = parts;
    this.#wallet = wallet;
    this.#firstYear = before.year;
    this.#spentBefore = before.balance;
  }

  /** A wallet that has a number, which expires in `year`. */
  static async start(
    parts: { url: string; chain: PaidChain },
    wallet: { address: Address; privateKey: Hex },
    expiresAt: string,
  ): Promise<Payer> {
    const balance = await parts.chain.dollar.balanceOf(wallet.address);
    const payer = new Payer(parts, wallet, { year: yearOf(expiresAt), balance });
    payer.#running = payer.#pay();
    return payer;
  }

  /** Resolves when a payment that began since now was answered with a year. */
  async pays(what: string): Promise<void> {
    const before = this.paid;
    await until(`a payment ${what}`, () => this.paid > before + 1, SETTLED_TIMEOUT_MS);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** After `stop`: every dollar that left the wallet bought a year, and every year was paid. */
  async check(t: Test): Promise<void> {
    const { url, chain } = this.#parts;
    const { address, privateKey } = this.#wallet;
    const years = await until(
      'no payment is open',
      async () => {
        const response = await recoverToken(url, privateKey);
        if (response.status !== 200) return undefined;
        return yearOf(((await response.json()) as { expires_at: string }).expires_at) - this.#firstYear;
      },
      SETTLED_TIMEOUT_MS,
    );
    const spent = this.#spentBefore - (await chain.dollar.balanceOf(address));
    t.equal(spent, BigInt(years) * PRICE, `${years} years for ${spent / 1_000_000n} dollars`);
    t.ok(years >= this.paid, `${this.paid} answers with a year`);
  }

  async #pay(): Promise<void> {
    const { url } = this.#parts;
    const bounded: typeof fetch = (input, init) =>
      fetch(input, { ...init, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
    while (!this.#stopping.signal.aborted) {
      const status = await paySubscribe(url, this.#wallet.privateKey, bounded).then(
        async (response) => {
          await response.arrayBuffer();
          return response.status;
        },
        () => undefined,
      );
      if (status === 200) this.paid += 1;
      await pause(PAUSE_MS, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    }
  }
}

const yearOf = (time: string): number => new Date(time).getUTCFullYear();
