// The status of the node in one line, for `systemctl status`. Pure.
import type { Slot } from '#shared/link/messages.ts';

/** The status of the daemon. */
export interface DaemonStatus {
  readonly slots: readonly Slot[];
  readonly isEnrolled: boolean;
  readonly isLinked: boolean;
  readonly callsUp: number;
  /** Whether it waits for calls to end and starts no new ones. */
  readonly isDraining: boolean;
}

/** Returns, for example, "3 of 4 slots registered, linked, 1 call up". */
export function statusLine({ slots, isEnrolled, isLinked, callsUp, isDraining }: DaemonStatus): string {
  const registered = slots.filter(({ state }) => state === 'registered').length;
  const link = isLinked ? 'linked' : isEnrolled ? 'no link' : 'not enrolled';
  const calls = callsUp === 0 ? [] : [`${callsUp} ${callsUp === 1 ? 'call' : 'calls'} up`];
  const parts = [
    ...(isDraining ? ['stopping after the last call'] : []),
    `${registered} of ${slots.length} ${slots.length === 1 ? 'slot' : 'slots'} registered`,
    link,
    ...calls,
  ];
  return parts.join(', ');
}
