// The public API as functions: what an agent's code would call. Every "no" is an `ApiError`.
import type { LocalAccount } from 'viem/accounts';
import { signChallenge } from './exact-payment.ts';

/** A settlement waits for a block and a send for the carrier; both answer within this. */
const REQUEST_TIMEOUT_MS = 60_000;

const RECEIVE_POLL_MS = 250;

export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: number;
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    super(`${status} ${JSON.stringify(body)}`);
    this.status = status;
    this.body = body;
  }
}

export type Json = Record<string, unknown>;

export class ApiClient {
  readonly #baseUrl: string;

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl.replace(/\/+$/, '');
  }

  /** Pays for a year, up to `amountAtomicMax`, and returns token and number. */
  async subscribe(account: LocalAccount, amountAtomicMax: bigint): Promise<Json> {
    const asked = await this.#request('POST', '/subscribe');
    if (asked.status !== 402) return succeeded(asked);
    const payment = await signChallenge(asked.body, { account, amountAtomicMax, now: new Date() });
    return succeeded(await this.#request('POST', '/subscribe', { headers: { 'X-PAYMENT': payment } }));
  }

  /** A fresh token by wallet signature; every older one is revoked. */
  async recover(account: LocalAccount): Promise<Json> {
    const { nonce, message } = succeeded(await this.#request('POST', '/auth/nonce'));
    const signature = await account.signMessage({ message: String(message) });
    const body = { wallet: account.address, nonce, signature };
    return succeeded(await this.#request('POST', '/auth', { body }));
  }

  async availability(): Promise<Json> {
    return succeeded(await this.#request('GET', '/availability'));
  }

  async number(token: string): Promise<Json> {
    return succeeded(await this.#request('GET', '/number', { token }));
  }

  async send(token: string, sms: { to: string; body: string }): Promise<Json> {
    return succeeded(await this.#request('POST', '/sms/send', { token, body: sms }));
  }

  /** Claims what has arrived; waits up to `waitSeconds` for the first message. */
  async receive(token: string, waitSeconds: number): Promise<Json> {
    const deadline = Date.now() + waitSeconds * 1000;
    for (;;) {
      const claimed = succeeded(await this.#request('GET', '/sms/receive?limit=100', { token }));
      if (claimed['count'] !== 0 || Date.now() >= deadline) return claimed;
      await new Promise((resolve) => setTimeout(resolve, RECEIVE_POLL_MS));
    }
  }

  async messages(token: string): Promise<Json> {
    return succeeded(await this.#request('GET', '/sms/messages', { token }));
  }

  async #request(
    method: 'GET' | 'POST',
    path: string,
    { token, body, headers }: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<{ status: number; body: Json }> {
    const response = await fetch(this.#baseUrl + path, {
      method,
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      headers: {
        ...headers,
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Json };
  }
}

function succeeded({ status, body }: { status: number; body: Json }): Json {
  if (status !== 200) throw new ApiError(status, body);
  return body;
}
