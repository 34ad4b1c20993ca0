// How a call of a bridge went, by the record of the service: whether it was answered, and who ended it.
import { sleep, systemClock, withTimeout } from '#shared/clock.ts';
import type { EndReason } from '#shared/voice/release-cause.ts';
import type { Call, SimrackClient } from '../simrack-client.ts';

/** The record of a call follows the end of its stream. */
const RECORD_MS = 2_000;
const PAUSE_MS = 100;

/** A number has one call at a time: this one is among its last. */
const LAST_CALLS = 10;

export interface CallOutcome {
  /** Null: the service cannot be asked. */
  answered: boolean | null;
  /** Null: the call has not ended yet, or the service cannot be asked. */
  reason: EndReason | null;
}

/**
 * The record of a call among the last ones of its number; undefined if the service cannot be asked. `isOver`: waits for its end, two seconds at
 * most. Never rejects.
 */
export async function recordOf(
  client: SimrackClient,
  callId: string,
  { isOver }: { isOver: boolean },
): Promise<Call | undefined> {
  let record: Call | undefined;
  const late = new AbortController();
  const read = async (): Promise<void> => {
    for (;;) {
      const { calls } = await client.calls({ limit: LAST_CALLS });
      record = calls.find(({ call_id: id }) => id === callId);
      if (!isOver || record?.reason != null) return;
      await sleep(systemClock, PAUSE_MS, late.signal);
    }
  };
  await withTimeout(systemClock, read(), RECORD_MS, () => new Error('late')).catch(() => undefined);
  late.abort();
  return record;
}

export async function outcomeOf(...asked: Parameters<typeof recordOf>): Promise<CallOutcome> {
  const record = await recordOf(...asked);
  return record === undefined
    ? { answered: null, reason: null }
    : { answered: record.answered_at !== null, reason: record.reason };
}

/** For people. */
export const END_WORDS: Readonly<Record<EndReason, string>> = {
  local_hangup: 'this side hung up',
  remote_hangup: 'the far end hung up',
  busy: 'the far end is busy',
  no_answer: 'no answer',
  rejected: 'it was rejected',
  cancelled: 'the caller gave up',
  network_failure: 'the network could not connect it, or lost it',
  modem_lost: 'the modem, its SIM or its port failed',
  contact_lost: 'the service lost contact with it',
  abandoned: 'it had no stream in time, or its node lost the service',
};
