// The daemon and the other end of its link, which keeps its modems busy and receives its reports.
import { randomUUID } from 'node:crypto';
import type { NodeFrame } from '#shared/link/frame.ts';
import { writeIdentity } from '../../fixtures/nodes/enrolled-node.ts';
import { until } from '../../fixtures/until.ts';
import type { Child } from '../child.ts';
import { daemonFolder, startDaemonChild } from './daemon-child.ts';
import { LinkPeer } from './link-peer.ts';
import type { RackModem } from './simulated-rack.ts';
import { BODY } from './submit-pdu.ts';

/** Messages of one SIM that are under way at once: its queue is never empty. */
const QUEUED = 32;
const IN_SERVICE_TIMEOUT_MS = 60_000;
const COMMAND_TIME_LEFT_MS = 10 * 60_000;

type Answer = Extract<NodeFrame, { type: 'result' | 'refusal' }>;

/** A message that arrived. */
interface Received {
  iccid: string;
  /** When its fact came (performance.now). */
  atMs: number;
}

export class LinkedDaemon {
  /** All messages that arrived, in the order of their facts. */
  readonly received: Received[] = [];
  readonly #peer: LinkPeer;
  readonly #child: Child;
  readonly #answers = new Map<string, (answer: Answer) => void>();
  #onReceived: (() => void) | undefined;

  private constructor(peer: LinkPeer, child: Child) {
    this.#peer = peer;
    this.#child = child;
    peer.onFrame = (frame) => this.#onFrame(frame);
  }

  /** Resolves when all modems are in service. */
  static async start(folder: string, modems: readonly RackModem[]): Promise<LinkedDaemon> {
    const peer = await LinkPeer.start();
    writeIdentity(daemonFolder(folder), peer.url);
    const child = await startDaemonChild(folder, modems);
    await until(
      'all modems are in service',
      () => modems.every(({ slot }) => peer.slotState(slot) === 'registered'),
      IN_SERVICE_TIMEOUT_MS,
    );
    return new LinkedDaemon(peer, child);
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Resolves when this many messages have arrived since the start. */
  async receivedAtLeast(count: number): Promise<void> {
    while (this.received.length < count) {
      await new Promise<void>((resolve) => {
        this.#onReceived = resolve;
      });
    }
  }

  /** Has a SIM send one message. Rejects unless the network accepts it. */
  async send({ iccid }: RackModem, to: string): Promise<void> {
    const id = randomUUID();
    const answered = new Promise<Answer>((resolve) => this.#answers.set(id, resolve));
    this.#peer.send({
      type: 'command',
      id,
      name: 'send_sms',
      time_left_ms: COMMAND_TIME_LEFT_MS,
      params: { iccid, to, body: BODY, segments_max: 1 },
    });
    const answer = await answered;
    const isAccepted =
      answer.type === 'result' && (answer.result as { status?: string }).status === 'accepted';
    if (!isAccepted) throw new Error(`not sent: ${JSON.stringify(answer)}`);
  }

  /** Has a SIM send `count` messages with its queue always full. */
  async sendMany(modem: RackModem, to: string, count: number): Promise<void> {
    let given = 0;
    const giver = async (): Promise<void> => {
      while (given < count) {
        given += 1;
        await this.send(modem, to);
      }
    };
    await Promise.all(Array.from({ length: Math.min(QUEUED, count) }, giver));
  }

  async stop(): Promise<void> {
    await this.#child.stop();
    await this.#peer.stop();
  }

  #onFrame(frame: NodeFrame): void {
    if (frame.type === 'fact' && frame.fact.kind === 'sms_received') {
      this.received.push({ iccid: frame.fact.iccid, atMs: performance.now() });
      this.#onReceived?.();
    } else if (frame.type === 'result' || frame.type === 'refusal') {
      this.#answers.get(frame.id)?.(frame);
      this.#answers.delete(frame.id);
    }
  }
}
