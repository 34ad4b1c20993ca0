// Why calls end (ITU-T Q.850 §2.2.7), by the numbers that go through networks and modems.

export const CAUSE = {
  unassignedNumber: 1,
  normalClearing: 16,
  userBusy: 17,
  noUserResponding: 18,
  noAnswer: 19,
  subscriberAbsent: 20,
  callRejected: 21,
  destinationOutOfOrder: 27,
  invalidNumberFormat: 28,
  normalUnspecified: 31,
} as const;

/** Highest number of a cause: 7 bits. */
export const CAUSE_MAX = 127;

const TEXTS: Readonly<Record<number, string>> = {
  0: 'No cause information available',
  1: 'Unassigned (unallocated) number',
  8: 'Operator determined barring',
  16: 'Normal call clearing',
  17: 'User busy',
  18: 'No user responding',
  19: 'User alerting, no answer',
  20: 'Subscriber absent',
  21: 'Call rejected',
  27: 'Destination out of order',
  28: 'Invalid number format (incomplete number)',
  31: 'Normal, unspecified',
  34: 'No circuit/channel available',
  38: 'Network out of order',
  41: 'Temporary failure',
  42: 'Switching equipment congestion',
  47: 'Resources unavailable, unspecified',
  127: 'Interworking, unspecified',
};

/** In words, for +CEER. */
export function causeText(cause: number): string {
  return TEXTS[cause] ?? `Cause ${cause}`;
}

/** The final result code that a modem gives to a call that the network ended (ITU-T V.250 §5.7.1). */
export function finalResultOf(cause: number, wasAnswered: boolean): 'BUSY' | 'NO ANSWER' | 'NO CARRIER' {
  if (wasAnswered) return 'NO CARRIER';
  if (cause === CAUSE.userBusy) return 'BUSY';
  return cause === CAUSE.noUserResponding || cause === CAUSE.noAnswer ? 'NO ANSWER' : 'NO CARRIER';
}
