// Why a slot takes no command now, for the messages of refusals. Subscribers read them, too.
import type { SlotState } from '#shared/link/slot.ts';

export const SLOT_WORDS: Readonly<Record<SlotState, string>> = {
  registered: 'The modem is not ready yet.',
  starting: 'The modem is starting.',
  searching: 'The modem is searching for a network.',
  denied: 'The network refuses the SIM.',
  sim_absent: 'The modem has no SIM.',
  sim_locked: 'The SIM is locked.',
  lost: 'The modem is unplugged or does not answer.',
};
