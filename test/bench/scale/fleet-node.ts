// One node of a large fleet: the daemon's own control link, with its proofs and its waits, over modems that only change their signal.
import type { KeyObject } from 'node:crypto';
import { ControlLink } from '#node-daemon/link/control-link.ts';
import { systemClock } from '#shared/clock.ts';
import { silentLogger } from '#shared/log.ts';
import { MemoryJournal } from './memory-journal.ts';
import { firstSim, iccidOf, nodeName, type Polled, SLOTS_A_NODE, slotsOf } from './numbered-sims.ts';

/** As the daemon polls a modem. */
const POLL_MS = 30_000;
const SIGNALS_DBM = [-71, -73, -75];

export class FleetNode {
  readonly journal = new MemoryJournal();
  readonly #node: number;
  readonly #link: ControlLink;
  /** When each modem was polled first. */
  readonly #phases = Array.from({ length: SLOTS_A_NODE }, () => Date.now() - Math.random() * POLL_MS);
  #facts = 0;

  constructor(node: number, { key, url }: { key: KeyObject; url: string }) {
    this.#node = node;
    this.#link = new ControlLink({
      random: Math.random,
      identity: { current: { nodeId: nodeName(node), controlPlaneUrl: url, key }, onChange: () => undefined },
      journal: this.journal,
      commands: { handle: async () => ({ ok: true, result: {} }) },
      slots: () => slotsOf(node, (slot) => this.#polled(slot)),
      clock: systemClock,
      log: silentLogger,
    });
  }

  get isLinked(): boolean {
    return this.#link.isLinked;
  }

  start(): void {
    this.#link.start();
  }

  /** A text arrived at one of its SIMs, each in turn. */
  receive(): void {
    const at = new Date().toISOString();
    this.#facts += 1;
    this.journal.add({
      kind: 'sms_received',
      iccid: iccidOf(firstSim(this.#node) + (this.#facts % SLOTS_A_NODE)),
      from: '+13105550188',
      body: `Your code is ${String(this.#facts).padStart(6, '0')}. Do not share it with anyone.`,
      sent_at: at,
      received_at: at,
      partial: false,
    });
  }

  #polled(slot: number): Polled {
    const firstAt = this.#phases[slot] ?? 0;
    const polls = Math.floor((Date.now() - firstAt) / POLL_MS);
    return {
      sweptAt: new Date(firstAt + polls * POLL_MS),
      signalDbm: SIGNALS_DBM[(polls + slot) % SIGNALS_DBM.length] ?? 0,
    };
  }
}
