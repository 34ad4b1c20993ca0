// What a node counts and measures, for Prometheus. No number, ICCID or text is in it: slots have names.
import { Counter, Gauge, Registry } from 'prom-client';
import type { Fact, Slot } from '#shared/link/messages.ts';
import { slotStateSchema } from '#shared/link/messages.ts';
import type { CallEnded } from '#shared/voice/call.ts';
import type { CommandAnswer } from '../link/command-handler.ts';
import type { RecoveryStep } from '../modem/recovery.ts';
import type { Trouble } from '../modem/trouble.ts';

/** What is looked at when somebody asks for the metrics. */
export interface NodeView {
  slots(): readonly Slot[];
  /** Facts that wait for the control plane. */
  journalDepth(): number;
  isJournalFailing(): boolean;
  isLinked(): boolean;
  /** Calls that hang in the ports of dead devices. */
  hangingCalls(): number;
  /** Telephone calls. */
  callsUp(): number;
}

/** The metrics of one node, in a registry of its own. */
export class NodeMetrics {
  readonly registry = new Registry();
  readonly #recoverySteps: Counter<'slot' | 'step' | 'reason'>;
  readonly #portOpens: Counter<'slot'>;
  readonly #journalFailures: Counter;
  readonly #received: Counter<'result'>;
  readonly #sent: Counter<'result'>;
  readonly #commands: Counter<'command' | 'result'>;
  readonly #calls: Counter<'direction' | 'reason'>;
  readonly #callSeconds: Counter<'direction'>;
  readonly #audioFrames: Counter<'outcome'>;
  readonly #audioGaps: Counter<'kind'>;

  constructor(view: NodeView) {
    const registers = [this.registry];
    const counter = <L extends string>(
      name: string,
      help: string,
      labelNames: readonly L[] = [],
    ): Counter<L> => new Counter({ name: `simrack_node_${name}_total`, help, labelNames, registers });
    const gauge = (name: string, help: string, value: () => number): Gauge =>
      new Gauge({
        ...{ name: `simrack_node_${name}`, help, registers },
        collect() {
          this.set(value());
        },
      });
    this.#recoverySteps = counter('recovery_steps', 'Steps taken to bring a modem back', [
      'slot',
      'step',
      'reason',
    ]);
    this.#portOpens = counter('port_opens', 'AT ports that were opened', ['slot']);
    this.#journalFailures = counter(
      'journal_failures',
      'Times at which the disk began to refuse the journal',
    );
    this.#received = counter('sms_received', 'Messages received', ['result']);
    this.#sent = counter('sms_sent', 'Outcomes of messages that were to be sent', ['result']);
    this.#commands = counter('commands', 'Commands of the control plane', ['command', 'result']);
    this.#calls = counter('calls', 'Calls that have ended', ['direction', 'reason']);
    this.#callSeconds = counter('call_seconds', 'Time of conversations', ['direction']);
    this.#audioFrames = counter('audio_frames', 'Frames of 20 ms of calls that have ended', ['outcome']);
    this.#audioGaps = counter('audio_gaps', 'Breaks in the audio of calls that have ended', ['kind']);
    gauge('calls_up', 'Calls that are up', () => view.callsUp());
    gauge('journal_depth', 'Facts that wait for the control plane', () => view.journalDepth());
    gauge('journal_failing', '1 while the disk refuses the journal', () => Number(view.isJournalFailing()));
    gauge('link_up', '1 while the control plane has welcomed the node', () => Number(view.isLinked()));
    gauge('hanging_calls', 'Calls that hang in the ports of dead devices', () => view.hangingCalls());
    registerSlots(this.registry, view);
  }

  recoveryStep(slot: string, step: RecoveryStep, reason: Trouble): void {
    this.#recoverySteps.inc({ slot, step, reason });
  }

  portOpened(slot: string): void {
    this.#portOpens.inc({ slot });
  }

  journalFailed(): void {
    this.#journalFailures.inc();
  }

  /** Counts what a fact says of messages and calls. */
  fact(fact: Fact): void {
    if (fact.kind === 'sms_received') this.#received.inc({ result: fact.partial ? 'partial' : 'whole' });
    else if (fact.kind === 'sms_unreadable') this.#received.inc({ result: 'unreadable' });
    else if (fact.kind === 'sms_outcome') this.#sent.inc({ result: fact.outcome.status });
    else if (fact.kind === 'call_ended') this.#callEnded(fact);
  }

  #callEnded({ direction, reason, answered_at: answeredAt, ended_at: endedAt, audio }: CallEnded): void {
    this.#calls.inc({ direction, reason });
    if (answeredAt !== null)
      this.#callSeconds.inc({ direction }, Math.max(0, Date.parse(endedAt) - Date.parse(answeredAt)) / 1000);
    for (const [name, count] of Object.entries(audio ?? {}))
      if (name.endsWith('_frames')) this.#audioFrames.inc({ outcome: name.replace(/_frames$/, '') }, count);
    if (audio === null) return;
    this.#audioGaps.inc({ kind: 'capture' }, audio.capture_gaps);
    this.#audioGaps.inc({ kind: 'xrun' }, audio.xruns);
  }

  /** Counts a command by what was answered; names that nobody knows share one label. */
  command(name: string, answer: CommandAnswer): void {
    const isUnknown = !answer.ok && answer.code === 'command_unknown';
    this.#commands.inc({ command: isUnknown ? 'unknown' : name, result: answer.ok ? 'ok' : answer.code });
  }
}

/** One line for each slot and state, 1 for the state that it is in: states are words. */
function registerSlots(registry: Registry, view: NodeView): void {
  const registers = [registry];
  new Gauge({
    ...{ name: 'simrack_node_slot_state', help: '1 for the state of each slot', registers },
    labelNames: ['slot', 'state'],
    collect() {
      this.reset();
      for (const { slot, state } of view.slots()) {
        for (const each of slotStateSchema.options) this.set({ slot, state: each }, Number(each === state));
      }
    },
  });
  new Gauge({
    ...{ name: 'simrack_node_signal_dbm', help: 'Signal, where the modem tells it', registers },
    labelNames: ['slot'],
    collect() {
      this.reset();
      for (const { slot, signal_dbm: signal } of view.slots())
        if (signal !== null) this.set({ slot }, signal);
    },
  });
}
