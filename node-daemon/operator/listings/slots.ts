// The list of this host's slots.
import { shownCarrier } from '#shared/carriers/carrier-name.ts';
import { callSettingsText } from '#shared/operator/call-settings.ts';
import type { Cell, Listing } from '#shared/operator/listing.ts';
import { SLOT_STATUS } from '#shared/operator/slot-health.ts';
import { stateWithReason } from '#shared/operator/slot-reasons.ts';
import type { ShownSlot } from '../../host/shown-slots.ts';

/** The state with its reason: "modem lost: not plugged in", or "lost (absent)" where there is little room. */
function stateCell({ state, reason }: ShownSlot): Cell {
  const status = SLOT_STATUS[state];
  return {
    status: { ...status, words: stateWithReason(status.words, state, reason) },
    text: reason === null ? state : `${state} (${reason})`,
  };
}

export const SLOTS: Listing<ShownSlot> = {
  name: 'slots',
  title: 'Slots',
  empty: 'no modem found, and the configuration names no slot',
  columns: [
    { title: 'Slot', cell: ({ slot }) => slot },
    { title: 'State', cell: stateCell },
    { title: 'Carrier', cell: ({ operator }) => operator && shownCarrier(operator) },
    { title: 'Signal', cell: ({ signal_dbm: signal }) => (signal === null ? null : `${signal} dBm`) },
    {
      title: 'Calls set up',
      cell: ({ voice_settings: settings }) => (settings == null ? null : callSettingsText(settings)),
    },
    { title: 'Number', cell: ({ number }) => number },
    { title: 'Model', cell: ({ model }) => model },
    { title: 'IMEI', cell: ({ device_id: imei }) => imei },
    { title: 'ICCID', cell: ({ iccid }) => iccid },
    { title: 'USB', cell: ({ usb_path: usbPath }) => usbPath },
  ],
};
