// One stolen node key beside the honest daemon: it claims every SIM, forges for all of them, and notes what it is shown.
import { setTimeout as pause } from 'node:timers/promises';
import type { Slot } from '#shared/link/slot.ts';
import { rememberService } from '../fixtures/nodes/enrolled-node.ts';
import { type Command, ScriptedNode, slotAt } from '../fixtures/nodes/scripted-node.ts';
import { until } from '../fixtures/until.ts';

const FORGE_MS = 50;
const AGAIN_MS = 500;
const JOURNAL_ID = 'journal-of-the-rogue';
/** With those of the fleet, what one frame holds. */
const GUESSES = 150;

interface RogueOptions {
  url: string;
  databaseUrl: string;
  dataDir: string;
  /** SIMs of the fleet. */
  iccids: readonly string[];
}

export class Rogue {
  readonly #options: RogueOptions;
  readonly #asked: Command[] = [];
  readonly #ending = new AbortController();
  #sequence = 0;
  #forged = 0;
  #links = 0;
  #running: Promise<void> | undefined;

  private constructor(options: RogueOptions) {
    this.#options = options;
  }

  /** Resolves when the rogue has claimed all SIMs and was heard. */
  static async begin(options: RogueOptions): Promise<Rogue> {
    rememberService(options.url, options);
    const rogue = new Rogue(options);
    const node = await rogue.#connect();
    await rogue.#forge(node);
    await until('the rogue was heard', () => node.acknowledged >= rogue.#sequence);
    rogue.#running = rogue.#play(node);
    return rogue;
  }

  /** The commands that it got, as text: all commands are about subscriptions or SIMs. */
  get commands(): string[] {
    return this.#asked.map(({ name, params }) => `${name} ${JSON.stringify(params)}`);
  }

  /** Its actions, for the report. */
  get counts(): { forged: number; links: number } {
    return { forged: this.#forged, links: this.#links };
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  async #play(first: ScriptedNode): Promise<void> {
    let node: ScriptedNode | undefined = first;
    while (!this.#ending.signal.aborted) {
      // The service restarts now and then; the first to be back is the rogue.
      node ??= await this.#connect().catch(() => undefined);
      if (node === undefined || node.closeCode !== undefined) {
        node = undefined;
        await pause(AGAIN_MS);
        continue;
      }
      await this.#forge(node);
      await pause(FORGE_MS);
    }
    await node?.drop();
  }

  async #connect(): Promise<ScriptedNode> {
    const node = await ScriptedNode.connect(this.#options.url, {
      nodeId: 'rogue',
      journalId: JOURNAL_ID,
      slots: this.#slots(0),
      oldestSequence: 1,
      onCommand: (command) => {
        this.#asked.push(command);
        return undefined;
      },
    });
    this.#links += 1;
    const welcome = node.frames.find((frame) => frame.type === 'welcome');
    this.#sequence = welcome?.type === 'welcome' ? welcome.acknowledged : 0;
    return node;
  }

  /** All SIMs of the fleet, and such as there might be. */
  #slots(signal: number): Slot[] {
    const guesses = Array.from({ length: GUESSES }, (_, index) => String(slotAt(index).iccid));
    return [...this.#options.iccids, ...guesses].map((iccid, index) => ({
      ...slotAt(index),
      slot: `r${index}`,
      iccid,
      device_id: null,
      number: null,
      signal_dbm: -60 - (signal % 40),
    }));
  }

  async #forge(node: ScriptedNode): Promise<void> {
    const { iccids } = this.#options;
    const at = new Date().toISOString();
    const iccid = String(iccids[this.#forged % iccids.length]);
    const call = {
      call_id: `rogue-call-${this.#forged}`,
      iccid,
      direction: 'inbound' as const,
      peer: '+13105550100',
      started_at: at,
      answered_at: null,
    };
    this.#forged += 1;
    // Facts that the service has not taken yet are a window: no honest node goes beyond it either.
    if (node.closeCode !== undefined || this.#sequence - node.acknowledged > 200) return;
    try {
      if (this.#forged % 20 === 0) node.send({ type: 'slots', slots: this.#slots(this.#forged), alarms: [] });
      node.send({ type: 'call', call: { ...call, state: 'ringing' } });
      this.#sequence += 1;
      node.sendFact(this.#sequence, {
        kind: 'sms_received',
        iccid,
        from: '+13105550100',
        body: `forged ${this.#forged}`,
        sent_at: at,
        received_at: at,
        partial: false,
      });
      this.#sequence += 1;
      node.sendFact(this.#sequence, {
        kind: 'call_ended',
        ...call,
        ended_at: at,
        reason: 'no_answer',
        cause: 19,
        audio: null,
      });
    } catch {
      // The link broke in between; lost frames are forged again.
    }
  }
}
