// The metrics of each slot at a scrape: state, registration, signal, storage, modem.
import type { Gauge } from 'prom-client';
import { type Slot, slotStateSchema } from '#shared/link/messages.ts';
import type { Instruments } from './instruments.ts';

/** Registers the metrics of slots. Renamed and removed slots disappear from them. */
export function viewSlots(instruments: Instruments, slots: () => readonly Slot[]): void {
  /** Leaves out values that the modem does not report, because 0 would be a value. */
  const eachReported =
    (value: (slot: Slot) => number | null | undefined) =>
    (gauge: Gauge<'slot'>): void => {
      for (const slot of slots()) {
        const reported = value(slot);
        if (reported !== null && reported !== undefined) gauge.set({ slot: slot.slot }, reported);
      }
    };
  instruments.view(
    'slot_state',
    '1 for the current state of each slot, 0 for the other states',
    ['slot', 'state'],
    (gauge) => {
      for (const { slot, state } of slots()) {
        for (const each of slotStateSchema.options) gauge.set({ slot, state: each }, Number(each === state));
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
    eachReported(({ state }) => Number(state === 'registered')),
  );
  instruments.view(
    'signal_dbm',
    'Signal strength, if the modem reports it; below -105 texts and calls may fail',
    ['slot'],
    eachReported(({ signal_dbm: signal }) => signal),
  );
  instruments.view(
    'storage_used',
    'Messages in the storage for received SMS; should be near 0',
    ['slot'],
    eachReported(({ storage }) => storage?.used),
  );
  instruments.view(
    'storage_size',
    'Capacity of that storage; when it is full, SMS wait in the network',
    ['slot'],
    eachReported(({ storage }) => storage?.total),
  );
}
