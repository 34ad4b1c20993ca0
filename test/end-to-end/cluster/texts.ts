// Texts both ways of one number, its claims, and the account of what became of each.
import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';
import { deliver, type HistoryMessage, heard } from '../../fixtures/agents/agent.ts';
import { toolRequest } from '../../fixtures/agents/tool-client.ts';
import { until } from '../../fixtures/until.ts';
import { ask } from './request.ts';

const OUTSIDE = '+13105550188';

const PAUSE_MS = 100;
/** A send whose instance died is settled two minutes later. */
const SETTLED_TIMEOUT_MS = 180_000;
/** Time for which an MCP client waits for a text. */
const WAIT_SECONDS = 5;

export interface Account {
  number: string;
  headers: Record<string, string>;
}

/** Answers of `POST /sms/send` that promise that nothing was sent. */
const NOT_SENT = /was not sent/;

/** Texts of `account` over the proxy at `url`, until they are stopped. `isWaited`: claimed by an MCP client that waits. */
export class Texts {
  readonly #parts: { url: string; simulatorUrl: string; account: Account };
  readonly #name: string;
  readonly #stopping = new AbortController();
  readonly #running: Promise<unknown>;
  /** The texts that the carrier gave to the modem. */
  readonly delivered: string[] = [];
  readonly #sent: string[] = [];
  readonly #notSent: string[] = [];
  readonly #claimed: string[] = [];

  constructor(
    parts: { url: string; simulatorUrl: string; account: Account },
    { name, isWaited }: { name: string; isWaited: boolean },
  ) {
    this.#parts = parts;
    this.#name = name;
    this.#running = Promise.all([
      this.#repeat((n) => this.#deliver(n)),
      this.#repeat((n) => this.#send(n)),
      this.#repeat(() => (isWaited ? this.#wait() : this.#claim())),
    ]);
  }

  get counts(): { delivered: number; sent: number; claimed: number } {
    const [delivered, sent, claimed] = [this.delivered, this.#sent, this.#claimed].map(
      ({ length }) => length,
    ) as [number, number, number];
    return { delivered, sent, claimed };
  }

  /** Resolves when texts went both ways since now. */
  async move(what: string, timeoutMs: number): Promise<void> {
    const before = this.counts;
    await until(
      `texts of ${this.#name} both ways ${what}`,
      () => this.counts.claimed > before.claimed + 3 && this.counts.sent > before.sent + 3,
      timeoutMs,
    );
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** After `stop`: nothing was lost, nothing doubled, and each answer was right. */
  async check(t: Test): Promise<void> {
    const { simulatorUrl } = this.#parts;
    const received = await until(
      'all that was delivered is in the history',
      async () => {
        const bodies = (await this.#history()).filter(({ direction }) => direction === 'received');
        const all = new Set(bodies.map(({ body }) => body));
        return this.delivered.every((body) => all.has(body)) ? bodies : undefined;
      },
      SETTLED_TIMEOUT_MS,
    );
    t.same(
      repeated(received.map(({ body }) => body)),
      [],
      `${this.#name}: ${received.length} received, none twice`,
    );
    t.same(repeated(this.#claimed), [], `${this.#name}: ${this.#claimed.length} claimed, none twice`);
    const rows = await until(
      'every send is settled',
      async () => {
        const sends = (await this.#history()).filter(({ direction }) => direction === 'sent');
        return sends.every(({ status }) => status !== 'sending') ? sends : undefined;
      },
      SETTLED_TIMEOUT_MS,
    );
    const onAir = (await heard(simulatorUrl))
      .map(({ body }) => body)
      .filter((body) => body.startsWith(`${this.#name} out `));
    t.same(repeated(onAir), [], `${this.#name}: ${onAir.length} on the air, none twice`);
    const air = new Set(onAir);
    t.same(
      this.#sent.filter((body) => !air.has(body)),
      [],
      `${this.#name}: ${this.#sent.length} accepted, all on the air`,
    );
    t.same(
      this.#notSent.filter((body) => air.has(body)),
      [],
      `${this.#name}: ${this.#notSent.length} refused as not sent, none on the air`,
    );
    t.same(
      rows
        .filter(({ status, body }) =>
          status === 'failed' ? air.has(body) : status !== 'unknown' && !air.has(body),
        )
        .map(({ status, body }) => `${status} ${body}`),
      [],
      `${this.#name}: failed means not sent, anything but failed and unknown means sent`,
    );
  }

  async #repeat(attempt: (n: number) => Promise<void>): Promise<void> {
    for (let n = 1; !this.#stopping.signal.aborted; n += 1) {
      await attempt(n).catch(() => undefined);
      await pause(PAUSE_MS);
    }
  }

  async #deliver(n: number): Promise<void> {
    const { simulatorUrl, account } = this.#parts;
    const body = `${this.#name} in ${n}`;
    if (await deliver(simulatorUrl, { from: OUTSIDE, to: account.number, body })) this.delivered.push(body);
  }

  async #send(n: number): Promise<void> {
    const { url, account } = this.#parts;
    const text = `${this.#name} out ${n}`;
    const { status, body } = await ask(`${url}/sms/send`, {
      headers: account.headers,
      method: 'POST',
      body: { to: OUTSIDE, body: text },
    });
    if (status === 200) this.#sent.push(text);
    else if (NOT_SENT.test(String(body['message']))) this.#notSent.push(text);
  }

  async #claim(): Promise<void> {
    const { url, account } = this.#parts;
    const { body } = await ask(`${url}/sms/receive?limit=7`, { headers: account.headers });
    this.#take(body['messages']);
  }

  async #wait(): Promise<void> {
    const { url, account } = this.#parts;
    const args = { name: 'receive_sms', arguments: { wait_seconds: WAIT_SECONDS } };
    const { method, headers, body } = toolRequest('tools/call', args, account.headers);
    const reply = await ask(`${url}/mcp`, {
      method,
      headers: { ...headers, Accept: 'application/json' },
      body,
    });
    const result = reply.body['result'] as { structuredContent?: { messages?: unknown } } | undefined;
    this.#take(result?.structuredContent?.messages);
  }

  #take(messages: unknown): void {
    for (const { body } of (messages ?? []) as Array<{ body: string }>) this.#claimed.push(body);
  }

  async #history(): Promise<HistoryMessage[]> {
    const { url, account } = this.#parts;
    const all: HistoryMessage[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page = await ask(`${url}/sms/messages?limit=100${query}`, { headers: account.headers });
      if (page.status !== 200) throw new Error(`the history: ${page.status}`);
      all.push(...(page.body['messages'] as HistoryMessage[]));
      cursor = page.body['next_cursor'] as string | null;
    }
    return all;
  }
}

function repeated(texts: readonly string[]): string[] {
  const seen = new Set<string>();
  return texts.filter((text) => seen.size === seen.add(text).size);
}
