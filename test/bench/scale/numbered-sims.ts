// The SIMs of a large fleet: ten in each node, numbered through.
import type { Slot } from '#shared/link/slot.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';

export const SLOTS_A_NODE = 10;

export const nodeName = (node: number): string => `node-${node}`;

/** Index of the first SIM of a node, from 1. */
export const firstSim = (node: number): number => node * SLOTS_A_NODE + 1;

export const iccidOf = (sim: number): string => `8901${String(sim).padStart(16, '0')}`;
export const numberOf = (sim: number): string => `+1206${5_550_000 + sim}`;

/** A slot's values as they change with each poll of its modem. */
export interface Polled {
  sweptAt: Date;
  signalDbm: number;
}

export function slotsOf(node: number, polled: (slot: number) => Polled): Slot[] {
  return Array.from({ length: SLOTS_A_NODE }, (_, index) => {
    const sim = firstSim(node) + index;
    const { sweptAt, signalDbm } = polled(index);
    return slotAt(index + 1, {
      device_id: `35${String(sim).padStart(13, '0')}`,
      iccid: iccidOf(sim),
      number: numberOf(sim),
      signal_dbm: signalDbm,
      model: 'Quectel EC25',
      usb_path: `1-1.${index + 1}`,
      storage: { used: 0, total: 50 },
      swept_at: sweptAt.toISOString(),
    });
  });
}
