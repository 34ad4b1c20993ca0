// All facts that the status page shows, as they are at a request.
import type { Slot } from '#shared/link/messages.ts';
import type { LiveCall } from '#shared/voice/call.ts';
import type { HostEvent } from './recent-events.ts';

export interface NodeStatus {
  /** Undefined while the node is not enrolled. */
  readonly nodeId: string | undefined;
  /** Host of the control plane's URL. */
  readonly controlPlane: string | undefined;
  readonly isLinked: boolean;
  /** Facts that wait for the control plane. */
  readonly journalDepth: number;
  readonly isJournalFailing: boolean;
  /** Words such as "no_modem". */
  readonly alarms: readonly string[];
  readonly slots: readonly Slot[];
  /** Those that are up. */
  readonly calls: readonly LiveCall[];
  /** dBm of each minute of the last day, oldest first. */
  readonly signalOf: (slot: string) => readonly (number | null)[];
  /** Newest first. */
  readonly events: readonly HostEvent[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly startedAt: number;
}
