// What is known of a slot only while its modem serves.

/** Of a modem that does not serve yet, or any more. */
export const UNKNOWN_SERVICE = { operator: null, signal_dbm: null, storage: null, swept_at: null } as const;
