// The data of the status page at a request.
import type { LiveCall } from '#shared/voice/call.ts';
import type { ShownSlot } from '../host/shown-slots.ts';
import type { HostEvent } from './recent-events.ts';

export interface NodeStatus {
  /** The command that enrolls the node. */
  readonly enrollCommand: string;
  /** Undefined while the node is not enrolled. */
  readonly nodeId: string | undefined;
  /** Host in the control plane's URL. */
  readonly controlPlane: string | undefined;
  readonly isLinked: boolean;
  /** Number of facts that wait for the control plane. */
  readonly journalDepth: number;
  readonly isJournalFailing: boolean;
  /** Alarms such as "no_modem". */
  readonly alarms: readonly string[];
  readonly slots: readonly ShownSlot[];
  /** Calls in progress. */
  readonly calls: readonly LiveCall[];
  /** Signal of a slot in dBm for each minute of the last day, oldest first. */
  readonly signalOf: (slot: string) => readonly (number | null)[];
  /** Events, newest first. */
  readonly events: readonly HostEvent[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly startedAt: number;
}
