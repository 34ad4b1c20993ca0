// The daemon as a program beside the bench, with a control plane of frames that keeps its modems busy.
import { randomUUID } from 'node:crypto';
import type { FactOf } from '#shared/link/messages.ts';
import { writeIdentity } from '../fixtures/enrolled-node.ts';
import { until } from '../fixtures/until.ts';
import { type FrameOf, ScriptedControlPlane } from '../node-daemon/link/scripted-control-plane.ts';
import type { Child } from './child.ts';
import { daemonFolder, startDaemonChild } from './daemon-child.ts';
import type { RackModem } from './simulated-rack.ts';
import { BODY } from './submit-pdu.ts';

/** Messages of one SIM that are under way at once: its queue is never empty. */
const QUEUED = 32;
const IN_SERVICE_TIMEOUT_MS = 60_000;
const COMMAND_TIME_LEFT_MS = 10 * 60_000;

type Answer = FrameOf<'result'> | FrameOf<'refusal'>;

export class LinkedDaemon {
  readonly #plane: ScriptedControlPlane;
  readonly #child: Child;
  readonly #answers = new Map<string, (answer: Answer) => void>();
  #receivedCount = 0;
  #onFact: (() => void) | undefined;

  private constructor(plane: ScriptedControlPlane, child: Child) {
    this.#plane = plane;
    this.#child = child;
    // The plane has parsed the frame by then.
    plane.socket?.on('message', () => this.#onFrame());
  }

  /** Resolves when all modems are in service. */
  static async start(folder: string, modems: readonly RackModem[]): Promise<LinkedDaemon> {
    const plane = await ScriptedControlPlane.start();
    writeIdentity(daemonFolder(folder), plane.url);
    const child = await startDaemonChild(folder, modems);
    await until(
      'all modems are in service',
      () => modems.every(({ slot }) => plane.slotState(slot) === 'registered'),
      IN_SERVICE_TIMEOUT_MS,
    );
    return new LinkedDaemon(plane, child);
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Messages that arrived, in the order of their facts, with the time of each (performance.now). */
  received(): { atMs: number; fact: FactOf<'sms_received'> }[] {
    return this.#plane.facts.flatMap(({ atMs, fact }) =>
      fact.kind === 'sms_received' ? [{ atMs, fact }] : [],
    );
  }

  /** How many messages have arrived since the start. */
  get receivedCount(): number {
    return this.#receivedCount;
  }

  /** Resolves when this many messages have arrived since the start. */
  async receivedAtLeast(count: number): Promise<void> {
    while (this.#receivedCount < count) {
      await new Promise<void>((resolve) => {
        this.#onFact = resolve;
      });
    }
  }

  /** Has a SIM send one message. Rejects unless the network accepts it. */
  async send({ iccid }: RackModem, to: string): Promise<void> {
    const id = randomUUID();
    const answered = new Promise<Answer>((resolve) => this.#answers.set(id, resolve));
    this.#plane.send({
      ...{ type: 'command', id, name: 'send_sms', time_left_ms: COMMAND_TIME_LEFT_MS },
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
    await this.#plane.stop();
  }

  #onFrame(): void {
    const frame = this.#plane.frames.at(-1);
    if (frame?.type === 'fact' && frame.fact.kind === 'sms_received') {
      this.#receivedCount += 1;
      this.#onFact?.();
    } else if (frame?.type === 'result' || frame?.type === 'refusal') {
      this.#answers.get(frame.id)?.(frame);
      this.#answers.delete(frame.id);
    }
  }
}
