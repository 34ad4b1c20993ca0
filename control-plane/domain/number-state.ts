// The states of a number.
/**
 * The first that applies: `retired`, removed from the fleet until it is imported again; `out_of_service`, not sold, by an operator's decision; `held` by a wallet;
 * `reserved` for a payment; `quarantined`, not sold until messages for its last subscriber have ceased; `out_of_service`, because its slot is;
 * `unadmitted`, its SIM is new and waits for an operator or a probe; `available`, on sale; `unswept`, not sold until its SIM is swept;
 * `offline`, for sale, but its SIM is not registered, or its node has no link or cannot write its journal.
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
