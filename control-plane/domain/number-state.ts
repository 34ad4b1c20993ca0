// What a number may be in.
/**
 * The first that fits: `retired`, gone for good; `out_of_service`, not sold, by an operator's word; `held` by a wallet;
 * `reserved` for a payment; `quarantined`, not sold until its last holder's messages have ceased; `out_of_service`, also where
 * its slot is; `unadmitted`, its SIM was never seen before and waits for an operator or a probe; `available`, on sale; `unswept`, its SIM
 * has to be swept before; `offline`, its SIM is not on the network or not in a linked node.
 */
export type NumberState = (typeof NUMBER_STATES)[number];

export const NUMBER_STATES = [
  'available',
  'unswept',
  'offline',
  'reserved',
  'held',
  'quarantined',
  'out_of_service',
  'unadmitted',
  'retired',
] as const;
