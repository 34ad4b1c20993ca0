// One subscriber over HTTP: answers as they are, and what it means when there is none.
import type { HistoryRow, SendAnswer } from './record.ts';

/** The service itself answers within 45 s. */
const REQUEST_TIMEOUT_MS = 70_000;

interface ClaimedMessage {
  id: number;
  from: string;
  body: string;
}

/** The service could not be reached: the request was certainly not read. */
export class Unreachable extends Error {
  override name = 'Unreachable';
}

interface RowOnWire {
  id: number;
  direction: 'sent' | 'received';
  from_number: string;
  to_number: string;
  body: string;
  message_id: string | null;
  status: string | null;
  created_at: string;
  delivered_at: string | null;
}

export class Subscriber {
  readonly number: string;
  readonly #url: string;
  readonly #headers: Record<string, string>;

  constructor(url: string, { number, token }: { number: string; token: string }) {
    this.number = number;
    this.#url = url;
    this.#headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  }

  /** Throws `Unreachable`, and for a status that no send should have. */
  async send(to: string, body: string): Promise<SendAnswer> {
    const response = await this.#request('/sms/send', { method: 'POST', body: JSON.stringify({ to, body }) });
    if (response === undefined) return { kind: 'cut' };
    const { status, value } = response;
    if (status === 200) return { kind: 'accepted', messageId: String(value['message_id']) };
    // The service was stopped for too long to read it.
    if (status === 408) return { kind: 'broken' };
    if (status !== 502 && status < 500)
      throw new Error(`a send was answered ${status} ${JSON.stringify(value)}`);
    if (status !== 502) return { kind: 'broken' };
    const { reason } = value;
    return typeof reason === 'string' ? { kind: 'refused', reason } : { kind: 'open' };
  }

  /** `undefined` when the answer was cut. Throws `Unreachable`. */
  async receive(limit: number): Promise<ClaimedMessage[] | undefined> {
    const response = await this.#request(`/sms/receive?limit=${limit}`);
    if (response === undefined || response.status === 408 || response.status >= 500) return undefined;
    if (response.status !== 200) throw new Error(`a claim was answered ${response.status}`);
    const messages = response.value['messages'] as RowOnWire[];
    return messages.map(({ id, from_number: from, body }) => ({ id, from, body }));
  }

  /** The whole history, newest first. Throws when the service does not answer. */
  async history(direction: 'sent' | 'received' | 'both' = 'both'): Promise<HistoryRow[]> {
    const rows: HistoryRow[] = [];
    for (let cursor: unknown = ''; cursor !== null; ) {
      const from = cursor === '' ? '' : `&cursor=${encodeURIComponent(String(cursor))}`;
      const page = await this.#request(`/sms/messages?limit=100&direction=${direction}${from}`);
      if (page?.status !== 200) throw new Error(`the history was answered ${page?.status}`);
      rows.push(...(page.value['messages'] as RowOnWire[]).map(rowOf));
      cursor = page.value['next_cursor'];
    }
    return rows;
  }

  /** How many calls its list has, 100 at most: no test here makes one. */
  async calls(): Promise<number> {
    const page = await this.#request('/voice/calls?limit=100');
    if (page?.status !== 200) throw new Error(`the calls were answered ${page?.status}`);
    return (page.value['calls'] as unknown[]).length;
  }

  async #request(
    path: string,
    init: RequestInit = {},
  ): Promise<{ status: number; value: Record<string, unknown> } | undefined> {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    try {
      const response = await fetch(this.#url + path, { ...init, headers: this.#headers, signal });
      return { status: response.status, value: (await response.json()) as Record<string, unknown> };
    } catch (error) {
      if (isRefused(error)) throw new Unreachable('the service is away', { cause: error });
      return undefined;
    }
  }
}

/** No server listens: nothing of the request left this process. */
function isRefused(error: unknown): boolean {
  const { cause } = error as Error;
  return (cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED';
}

const rowOf = (row: RowOnWire): HistoryRow => ({
  id: row.id,
  direction: row.direction,
  from: row.from_number,
  to: row.to_number,
  body: row.body,
  messageId: row.message_id,
  status: row.status,
  createdAt: row.created_at,
  deliveredAt: row.delivered_at,
});
