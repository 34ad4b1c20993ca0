// The metrics of a node for Prometheus. They contain no phone number, ICCID or text, only the names of slots.
import { type Counter, type Gauge, Registry } from 'prom-client';
import { slotStateSchema } from '#shared/link/slot.ts';
import { NODE_ALARMS } from '#shared/operator/node-alarms.ts';
import { Instruments, STORAGE_HELP } from '#shared/process/instruments.ts';
import type { ShownSlot } from '../host/shown-slots.ts';
import type { CommandAnswer } from '../link/command-handler.ts';
import { FactMetrics } from './fact-metrics.ts';
import { ModemMetrics } from './modem-metrics.ts';

/** The state that is read at each scrape of the metrics. */
export interface NodeView {
  slots(): readonly ShownSlot[];
  /** Number of facts that wait for the control plane. */
  journalDepth(): number;
  isJournalFailing(): boolean;
  isLinked(): boolean;
  /** Alarms of the whole node, such as "no_modem". */
  alarms(): readonly string[];
  /** Number of system calls that hang in the ports of dead devices. */
  hangingCalls(): number;
  /** Number of telephone calls. */
  callsUp(): number;
}

/** Alarms that are always exported, as 0 or 1. */
const ALARMS = Object.keys(NODE_ALARMS);

const SLOT_STATES: readonly ShownSlot['state'][] = [...slotStateSchema.options, 'journal_unavailable'];

/** The metrics of one node, in a registry of its own. */
export class NodeMetrics {
  readonly registry = new Registry();
  readonly modems: ModemMetrics;
  readonly facts: FactMetrics;
  readonly #journalFailures: Counter;
  readonly #commands: Counter<'command' | 'result'>;

  constructor(view: NodeView) {
    const instruments = new Instruments(this.registry, 'simrack_node');
    const gauge = (name: string, help: string, value: () => number): void =>
      instruments.view(name, help, [], (shown) => shown.set(value()));
    viewSlots(instruments, () => view.slots());
    this.modems = new ModemMetrics(instruments);
    this.facts = new FactMetrics(instruments);
    this.#commands = instruments.counter(
      'commands',
      'Commands of the control plane, by result: ok, or the error code of the refusal',
      ['command', 'result'],
    );
    this.#journalFailures = instruments.counter(
      'journal_failures',
      'How many times the disk began to refuse journal writes',
    );
    gauge('calls_up', 'Calls in progress', () => view.callsUp());
    gauge('journal_depth', 'Facts in the journal that the control plane has not acknowledged', () =>
      view.journalDepth(),
    );
    gauge(
      'journal_failing',
      '1 while the disk refuses journal writes; messages stay on the SIMs meanwhile',
      () => Number(view.isJournalFailing()),
    );
    gauge('link_up', '1 while the link to the control plane is up', () => Number(view.isLinked()));
    gauge('hanging_calls', 'Threads that hang in the ports of dead devices', () => view.hangingCalls());
    instruments.view(
      'alarm',
      `1 for each alarm of the whole node: ${ALARMS.join(', ')}`,
      ['alarm'],
      (shown) => {
        const alarms = view.alarms();
        for (const alarm of new Set([...ALARMS, ...alarms]))
          shown.set({ alarm }, Number(alarms.includes(alarm)));
      },
    );
  }

  journalFailed(): void {
    this.#journalFailures.inc();
  }

  /** Counts a command by its answer. All unknown commands share one label. */
  command(name: string, answer: CommandAnswer): void {
    const isUnknown = !answer.ok && answer.code === 'command_unknown';
    this.#commands.inc({ command: isUnknown ? 'unknown' : name, result: answer.ok ? 'ok' : answer.code });
  }
}

/** Registers the metrics of slots. Renamed and removed slots disappear from them. */
function viewSlots(instruments: Instruments, slots: () => readonly ShownSlot[]): void {
  /** Leaves out values that the modem does not report, because 0 would be a value. */
  const eachReported =
    (value: (slot: ShownSlot) => number | null | undefined) =>
    (gauge: Gauge<'slot'>): void => {
      for (const slot of slots()) {
        const reported = value(slot);
        if (reported !== null && reported !== undefined) gauge.set({ slot: slot.slot }, reported);
      }
    };
  instruments.view(
    'slot_state',
    '1 for the current state of each slot, 0 for the other states; journal_unavailable: on the network, but the node cannot write its journal',
    ['slot', 'state'],
    (gauge) => {
      for (const { slot, state } of slots()) {
        for (const each of SLOT_STATES) gauge.set({ slot, state: each }, Number(each === state));
      }
    },
  );
  instruments.view(
    'slot_info',
    'Always 1; the labels name the modem of each slot and its USB path',
    ['slot', 'model', 'usb_path'],
    (gauge) => {
      for (const { slot, model, usb_path } of slots())
        gauge.set({ slot, model: model ?? '', usb_path: usb_path ?? '' }, 1);
    },
  );
  instruments.view(
    'registered',
    '1 if the SIM is registered, at home or roaming',
    ['slot'],
    // The SIM is on the network, whatever the disk of the node does.
    eachReported(({ state }) => Number(state === 'registered' || state === 'journal_unavailable')),
  );
  instruments.view(
    'signal_dbm',
    'Signal strength, if the modem reports it; below -105 texts and calls may fail',
    ['slot'],
    eachReported(({ signal_dbm: signal }) => signal),
  );
  instruments.view(
    'storage_used',
    STORAGE_HELP.used,
    ['slot'],
    eachReported(({ storage }) => storage?.used),
  );
  instruments.view(
    'storage_size',
    STORAGE_HELP.size,
    ['slot'],
    eachReported(({ storage }) => storage?.total),
  );
}
