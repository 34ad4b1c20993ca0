// Metrics of each node and slot, as the nodes report them over their links: for nodes that no Prometheus can reach.
import type { Clock } from '#shared/clock.ts';
import { isNodeAlarm } from '#shared/operator/node-alarms.ts';
import { type Instruments, STORAGE_HELP } from '#shared/process/instruments.ts';
import { oncePerScrape } from './scrape-reading.ts';
import { SlotNames } from './slot-names.ts';

interface MeasuredSlot {
  slot: string;
  /** A state of `slotStateSchema`. */
  state: string;
  signalDbm: number | null;
  storageUsed: number | null;
  storageTotal: number | null;
}

/** A node that an operator has added and approved. The name is that of its key, never one that it reports. */
export interface MeasuredNode {
  node: string;
  isLinked: boolean;
  journalDepth: number | null;
  alarms: readonly string[];
  /** Slots in its last report. */
  slots: readonly MeasuredSlot[];
}

interface ShownNode extends MeasuredNode {
  hiddenSlots: number;
}

/** `read` is called once per scrape. Slots of a node without a link are left out: their state is not known. */
export function fleetMetrics(
  make: Instruments,
  { read, clock }: { read: () => Promise<readonly MeasuredNode[]>; clock: Clock },
): void {
  const names = new SlotNames();
  const shown = oncePerScrape(async () => {
    const nodes = await read();
    names.keep(nodes.map(({ node }) => node));
    return nodes.map((each) => shownNode(each, names, clock.now()));
  }, clock);
  make.view(
    'fleet_database_up',
    '1 if the database responded to this scrape; at 0 the other metrics of nodes are missing',
    [],
    async (gauge) => gauge.set(Number((await shown()) !== undefined)),
  );
  const ofNode = (
    name: string,
    help: string,
    measure: (node: ShownNode) => number | null | undefined,
  ): void => {
    make.view(`fleet_node_${name}`, help, ['node'], async (gauge) => {
      for (const each of (await shown()) ?? []) {
        const value = measure(each);
        if (typeof value === 'number') gauge.set({ node: each.node }, value);
      }
    });
  };
  ofNode('linked', '1 while the node has a link to the service', ({ isLinked }) => Number(isLinked));
  ofNode('journal_depth', 'Facts in the journal of the node that the service has not acknowledged', (node) =>
    node.isLinked ? node.journalDepth : undefined,
  );
  ofNode('hidden_slots', 'Slots without metrics, because the node has used too many names', (node) =>
    node.isLinked ? node.hiddenSlots : undefined,
  );
  make.view('fleet_node_alarm', '1 for each alarm of a node', ['node', 'alarm'], async (gauge) => {
    for (const { node, isLinked, alarms } of (await shown()) ?? [])
      if (isLinked) for (const alarm of alarms.filter(isNodeAlarm)) gauge.set({ node, alarm }, 1);
  });
  make.view(
    'fleet_slot_state',
    '1 for the current state of each slot of a linked node',
    ['node', 'slot', 'state'],
    async (gauge) => {
      for (const { node, slots } of (await shown()) ?? [])
        for (const { slot, state } of slots) gauge.set({ node, slot, state }, 1);
    },
  );
  const ofSlot = (name: string, help: string, measure: (slot: MeasuredSlot) => number | null): void => {
    make.view(`fleet_slot_${name}`, help, ['node', 'slot'], async (gauge) => {
      for (const { node, slots } of (await shown()) ?? [])
        for (const each of slots) {
          const value = measure(each);
          if (value !== null) gauge.set({ node, slot: each.slot }, value);
        }
    });
  };
  ofSlot('signal_dbm', 'Signal strength; below -105 texts and calls may fail', ({ signalDbm }) => signalDbm);
  ofSlot('storage_used', STORAGE_HELP.used, ({ storageUsed }) => storageUsed);
  ofSlot('storage_size', STORAGE_HELP.size, ({ storageTotal }) => storageTotal);
}

function shownNode(node: MeasuredNode, names: SlotNames, nowMs: number): ShownNode {
  if (!node.isLinked) return { ...node, slots: [], hiddenSlots: 0 };
  const admitted = names.admit(
    node.node,
    node.slots.map(({ slot }) => slot),
    nowMs,
  );
  const slots = node.slots.filter(({ slot }) => admitted.has(slot));
  return { ...node, slots, hiddenSlots: node.slots.length - slots.length };
}
