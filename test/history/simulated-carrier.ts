// The simulator over HTTP: posts texts, plays faults, and writes down what it says of both ways.
import { setTimeout as pause } from 'node:timers/promises';
import type { DeliveredRecord, HeardRecord } from './record.ts';

const ATTEMPTS_MAX = 3;
const REQUEST_TIMEOUT_MS = 30_000;
/** The number of messages that the simulator keeps for GET /sms. Polled this often, none is dropped unread. */
const HEARD_KEPT = 10_000;
const HEARD_POLL_MS = 1_000;

interface ModemOnWire {
  slot: string;
  imei: string;
  number: string;
  state: string;
  stores: Record<string, { used: number }>;
}

interface HeardOnWire {
  id: number;
  at: string;
  from: string;
  to: string;
  body: string | null;
}

type DeliveredOnWire = Pick<DeliveredRecord, 'id' | 'kind' | 'memory' | 'index'> & {
  at: string;
  imei: string;
};

export class SimulatedCarrier {
  readonly heard: HeardRecord[] = [];
  readonly delivered = new Map<number, DeliveredRecord>();
  /** The event stream broke: some deliveries are not known. */
  eventsLost = false;
  readonly #url: string;
  readonly #modems: readonly ModemOnWire[];
  readonly #indexByImei: ReadonlyMap<string, number>;
  readonly #onDelivered: (delivered: DeliveredRecord) => void;
  readonly #stopping = new AbortController();
  #watching: Promise<unknown> = Promise.resolve();
  #heardId = 0;

  private constructor(url: string, modems: ModemOnWire[], onDelivered: (delivered: DeliveredRecord) => void) {
    this.#url = url;
    this.#modems = modems;
    this.#indexByImei = new Map(modems.map(({ imei }, index) => [imei, index]));
    this.#onDelivered = onDelivered;
  }

  /** Begins to watch; `onDelivered` is called for each message that a modem took. */
  static async watch(
    url: string,
    onDelivered: (delivered: DeliveredRecord) => void,
  ): Promise<SimulatedCarrier> {
    const modems = (await (await fetch(`${url}/modems`)).json()) as ModemOnWire[];
    const carrier = new SimulatedCarrier(url, modems, onDelivered);
    const events = await fetch(`${url}/events`, { signal: carrier.#stopping.signal });
    carrier.#watching = Promise.all([carrier.#readEvents(events), carrier.#pollHeard()]);
    return carrier;
  }

  /** By modem, from 0. */
  get numbers(): string[] {
    return this.#modems.map(({ number }) => number);
  }

  /** Has the carrier take a text; `undefined` when it has too many waiting. */
  async post(sms: {
    from: string;
    to: string;
    body: string;
    reference_bits: 8 | 16;
  }): Promise<{ id: number; segments: number } | undefined> {
    const response = await this.#post('/sms', sms);
    const answer = (await response.json()) as { id: number; segments: number };
    if (response.status === 503) return undefined;
    if (response.status !== 202) throw new Error(`the carrier answered ${JSON.stringify(answer)}`);
    return answer;
  }

  /** Plays a fault. False when the simulator cannot play it now. */
  async play(modem: number, fault: Readonly<Record<string, unknown>>): Promise<boolean> {
    const response = await this.#post(`/modems/m${modem}/faults`, fault);
    await response.arrayBuffer();
    return response.ok;
  }

  async clearFaults(modem: number): Promise<void> {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const response = await fetch(`${this.#url}/modems/m${modem}/faults`, { method: 'DELETE', signal });
    await response.arrayBuffer();
  }

  /** Messages that lie on modems now. */
  async stored(): Promise<number> {
    const modems = (await this.#get('/modems')) as ModemOnWire[];
    return modems.flatMap(({ stores }) => Object.values(stores)).reduce((sum, { used }) => sum + used, 0);
  }

  /** Ends the watch with what was heard last. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#watching;
    await this.#readHeard();
  }

  /** A server may close a connection that it kept just when it is used again: asking once more is harmless. */
  async #get(path: string): Promise<unknown> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
        const response = await fetch(this.#url + path, { signal });
        return await response.json();
      } catch (error) {
        if (attempt === ATTEMPTS_MAX) throw error;
      }
    }
  }

  #post(path: string, body: unknown): Promise<Response> {
    return fetch(this.#url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
  }

  async #pollHeard(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#readHeard();
      await pause(HEARD_POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #readHeard(): Promise<void> {
    const messages = (await this.#get(`/sms?since=${this.#heardId}`)) as HeardOnWire[];
    if (messages.length >= HEARD_KEPT) throw new Error('the carrier heard more than it keeps');
    for (const { id, at, from, to, body } of messages) {
      this.heard.push({ id, atMs: Date.parse(at), from, to, body: body ?? '' });
      this.#heardId = id;
    }
  }

  async #readEvents(events: Response): Promise<void> {
    const decoder = new TextDecoder();
    let text = '';
    let order = 0;
    try {
      if (events.body === null) throw new Error('no events');
      for await (const chunk of events.body as unknown as AsyncIterable<Uint8Array>) {
        const blocks = (text + decoder.decode(chunk, { stream: true })).split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) {
          if (!block.includes('event: sms_delivered')) continue;
          order += 1;
          this.#onEvent(order, JSON.parse(block.slice(block.indexOf('data: ') + 'data: '.length)));
        }
      }
    } catch {
      // Cut off, or ended by us.
    }
    this.eventsLost = !this.#stopping.signal.aborted;
  }

  #onEvent(order: number, event: DeliveredOnWire): void {
    const { id, at, imei, kind, memory, index } = event;
    const modem = this.#indexByImei.get(imei) ?? -1;
    const delivered = { id, order, atMs: Date.parse(at), modem, kind, memory, index };
    this.delivered.set(id, delivered);
    this.#onDelivered(delivered);
  }
}
