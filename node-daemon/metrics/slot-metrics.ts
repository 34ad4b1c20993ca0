// How each slot is, when somebody asks: state, registration, signal, storage, what sits in it.
import type { Gauge } from 'prom-client';
import { type Slot, slotStateSchema } from '#shared/link/messages.ts';
import type { Instruments } from './instruments.ts';

/** Registers the views of slots. A slot that is renamed or gone leaves nothing behind. */
export function viewSlots(instruments: Instruments, slots: () => readonly Slot[]): void {
  /** What a modem does not tell is not shown: 0 would be a value. */
  const eachThatTells =
    (value: (slot: Slot) => number | null | undefined) =>
    (gauge: Gauge<'slot'>): void => {
      for (const slot of slots()) {
        const told = value(slot);
        if (told !== null && told !== undefined) gauge.set({ slot: slot.slot }, told);
      }
    };
  instruments.view(
    'slot_state',
    '1 for the state that each slot is in, 0 for the others',
    ['slot', 'state'],
    (gauge) => {
      for (const { slot, state } of slots()) {
        for (const each of slotStateSchema.options) gauge.set({ slot, state: each }, Number(each === state));
      }
    },
  );
  instruments.view(
    'slot_info',
    'Always 1: the modem of each slot and where it is plugged in',
    ['slot', 'model', 'usb_path'],
    (gauge) => {
      for (const { slot, model, usb_path } of slots())
        gauge.set({ slot, model: model ?? '', usb_path: usb_path ?? '' }, 1);
    },
  );
  instruments.view(
    'registered',
    '1 where the SIM is registered in its network, or abroad',
    ['slot'],
    eachThatTells(({ state }) => Number(state === 'registered')),
  );
  instruments.view(
    'signal_dbm',
    'Signal, where the modem tells it',
    ['slot'],
    eachThatTells(({ signal_dbm: signal }) => signal),
  );
  instruments.view(
    'storage_used',
    'Messages in the storage that arriving ones go to',
    ['slot'],
    eachThatTells(({ storage }) => storage?.used),
  );
  instruments.view(
    'storage_size',
    'Messages that fit into that storage',
    ['slot'],
    eachThatTells(({ storage }) => storage?.total),
  );
}
