// A link to a node as the rest of the service sees it: commands, and the two ways in which they fail.
import { CommandRefusal } from '#shared/link/command-refusal.ts';
import type { CommandName, CommandParams, CommandResults } from '#shared/link/messages.ts';
import { Refusal } from '../domain/refusal.ts';
import { emitMetric, type Limit } from '../metrics/metric-events.ts';

/** Commands to a node, over its link at this instance or through the instance that has it. */
export interface CommandLink {
  readonly nodeId: string;
  /** Sends a command and waits for its result. Throws `CommandRefusal` or `NodeUnavailable`. */
  command<N extends CommandName>(
    name: N,
    params: CommandParams<N>,
    options: { id: string; timeLeftMs: number; timeoutMs: number },
  ): Promise<CommandResults[N]>;
}

/** A link at this instance. */
export interface NodeLink extends CommandLink {
  /** Id of this link, not of the node. */
  readonly linkId: string;
  /** The node's last sign of life on it. */
  readonly heardAt: Date;
  /** Resolves when the slots that the node has reported so far are stored. */
  slotsWritten(): Promise<void>;
  /** Checks with the store whether the node may keep this link, and ends the link if not. */
  recheck(): Promise<void>;
  /** Called during a drain when the node found no other instance: the link may end at once. */
  hasNowhereToGo(): void;
  close(code: number, reason: string): void;
}

/** Whether the node refused a command because it does not have the call. */
export const isCallUnknown = (error: unknown): boolean =>
  error instanceof CommandRefusal && error.code === 'call_unknown';

/** Wait for a node that refuses for a limit without a retry time. */
const RATE_LIMIT_WAIT_MS = 60_000;

/** The refusal `rate_limited` for the client whose command the node refused with that code. Counts it as one of `limit`. */
export function rateLimited(limit: Limit, { message, retryAfterMs }: CommandRefusal): Refusal {
  emitMetric({ kind: 'rate_limited', limit });
  const seconds = Math.max(1, Math.ceil((retryAfterMs ?? RATE_LIMIT_WAIT_MS) / 1000));
  return new Refusal('rate_limited', message, { headers: { 'Retry-After': String(seconds) } });
}

/** No link, the link broke, or no response in time: the node may or may not have run the command. */
export class NodeUnavailable extends Error {
  override name = 'NodeUnavailable';
  /** False when the command certainly never left this process. */
  readonly isSent: boolean;

  constructor(message: string, isSent: boolean) {
    super(message);
    this.isSent = isSent;
  }
}
