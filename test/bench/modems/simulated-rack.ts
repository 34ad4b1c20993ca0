// The simulator as a program beside the bench: its modems, and messages to them.
import { setTimeout as pause } from 'node:timers/promises';
import { deliver } from '../../fixtures/agents/agent.ts';
import { type Child, startChild } from '../child.ts';
import { eventsOf } from '../event-source.ts';

const STRANGER = '+13105550188';
const DELIVERIES_AT_ONCE = 16;
const DRAIN_TIMEOUT_MS = 60_000;
/** Part of what is timed, so that it is short. */
const EMPTIED_POLL_MS = 2;

export interface RackModem {
  slot: string;
  imei: string;
  iccid: string;
  number: string;
  ports: { at: string };
  stores: Record<string, { used: number }>;
}

interface HeardMessage {
  imei: string;
  at: string;
}

interface RackOptions {
  folder: string;
  modems: number;
  /** Time that each message takes on the air. */
  radioMs?: number;
}

export class SimulatedRack {
  readonly url: string;
  readonly modems: readonly RackModem[];
  readonly #child: Child;

  private constructor(child: Child, modems: readonly RackModem[]) {
    this.#child = child;
    this.url = String(child.ready['simulator_url']);
    this.modems = modems;
  }

  static async start({ folder, modems, radioMs = 0 }: RackOptions): Promise<SimulatedRack> {
    const child = await startChild('hardware-sim/main.ts', {
      MODEMS: String(modems),
      RACK_DIR: `${folder}/rack`,
      SIMULATOR_PORT: '0',
      RADIO_DELAY_MS: String(radioMs),
    });
    const response = await fetch(`${String(child.ready['simulator_url'])}/modems`);
    return new SimulatedRack(child, (await response.json()) as RackModem[]);
  }

  get pid(): number {
    return this.#child.pid;
  }

  modem(position: number): RackModem {
    const modem = this.modems[position];
    if (modem === undefined) throw new Error(`no modem ${position}`);
    return modem;
  }

  async deliver({ number }: RackModem, body: string): Promise<void> {
    if (!(await deliver(this.url, { from: STRANGER, to: number, body }))) throw new Error('not delivered');
  }

  /** Has the carrier keep `count` messages for a modem until `release`. */
  async holdBack(modem: RackModem, count: number): Promise<void> {
    await this.play(modem, { kind: 'store_full' });
    let given = 0;
    const giver = async (): Promise<void> => {
      while (given < count) {
        given += 1;
        await this.deliver(modem, `message ${given}`);
      }
    };
    await Promise.all(Array.from({ length: DELIVERIES_AT_ONCE }, giver));
  }

  /** Lets them come, as fast as the modem's storage has room; ends whatever else was played. */
  async release({ slot }: RackModem): Promise<void> {
    await this.#request(`/modems/${slot}/faults`, { method: 'DELETE' });
  }

  /** Has the carrier deliver the modem's messages without reports to the sender. */
  async withholdReports(modem: RackModem): Promise<void> {
    await this.play(modem, { kind: 'status_report', withheld: true });
  }

  async play({ slot }: RackModem, fault: Record<string, unknown>): Promise<void> {
    await this.#request(`/modems/${slot}/faults`, { method: 'POST', body: JSON.stringify(fault) });
  }

  /** Resolves when nothing lies on the modems. */
  async emptied(modems: readonly RackModem[]): Promise<void> {
    const deadline = performance.now() + DRAIN_TIMEOUT_MS;
    for (const modem of modems) {
      while ((await this.#used(modem)) > 0) {
        if (performance.now() > deadline) throw new Error(`messages stay on ${modem.slot}`);
        await pause(EMPTIED_POLL_MS);
      }
    }
  }

  /** Reports each message on a modem as it is announced; `atMs` since the epoch, whole. */
  async onAnnounced(listener: (modem: RackModem, atMs: number) => void): Promise<{ close(): void }> {
    const byImei = new Map(this.modems.map((modem) => [modem.imei, modem]));
    return eventsOf(`${this.url}/events`, ({ event, data }) => {
      const modem = byImei.get(String(data['imei']));
      if (event !== 'sms_delivered' || modem === undefined) return;
      listener(modem, Date.parse(String(data['at'])));
    });
  }

  /** The messages that the carrier heard from a modem, oldest first. */
  async heardFrom({ imei }: RackModem): Promise<HeardMessage[]> {
    const heard = (await this.#request('/sms?since=0')) as HeardMessage[];
    return heard.filter((message) => message.imei === imei);
  }

  stop(): Promise<void> {
    return this.#child.stop();
  }

  async #used({ slot }: RackModem): Promise<number> {
    const { stores } = (await this.#request(`/modems/${slot}`)) as RackModem;
    return Object.values(stores).reduce((sum, { used }) => sum + used, 0);
  }

  async #request(path: string, init: RequestInit = {}): Promise<unknown> {
    const response = await fetch(`${this.url}${path}`, init);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }
}
