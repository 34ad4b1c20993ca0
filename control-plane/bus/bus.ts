// Messages between the parts of the service, here and on other instances: events, which may be missed, and requests.
import type { CallRow, EndedCall } from '../store/messages/calls.ts';

export type BusEvent =
  /** Tokens revoked, year extended, or purged: cached data of the subscription is stale. */
  | { kind: 'subscription_changed'; subscriptionId: string }
  /** A received SMS is committed and can be claimed. */
  | { kind: 'sms_received'; subscriptionId: string }
  /** The status of a sent SMS changed, and that is stored. */
  | { kind: 'sms_status_changed'; subscriptionId: string }
  /** Deliveries of a webhook may be sent now, because its holder asked for it. */
  | { kind: 'webhook_queued'; subscriptionId: string }
  /** A call began or advanced, and that is stored. `instance`: the instance with its node's link. */
  | { kind: 'call_changed'; instance: string; call: CallRow }
  /** It was judged who answered a call, and that is stored. Published once per call. */
  | { kind: 'call_judged'; call: CallRow; judgedAt: Date }
  /** A call has ended, and that is stored. Published once per call. */
  | { kind: 'call_ended'; call: EndedCall }
  /** The node has a new link, and that is stored: an older one at another instance is over. */
  | { kind: 'node_linked'; nodeId: string; linkId: string }
  /** The node was revoked, approved or enrolled with another key, and that is stored: a link that it has may be over. */
  | { kind: 'node_identity_changed'; nodeId: string }
  /** An operator changed something, and that is stored. */
  | { kind: 'operator_acted' }
  /** A probe has arrived, and that is stored. */
  | { kind: 'probe_arrived'; probeId: string }
  /** The node, its slots or their events changed, and that is stored. `mayHaveReleased`: another node may get one of its SIMs. */
  | { kind: 'node_changed'; nodeId: string; mayHaveReleased: boolean }
  /** Other instances can be reached again, or no longer. Of this instance alone. */
  | { kind: 'bus_changed'; isConnected: boolean }
  /** An MCP client canceled a call of a tool. Digests of its token and of the call. */
  | { kind: 'tool_call_cancelled'; token: string; call: string };

/** Events about a subscription as a whole. */
export type SubscriptionEvent = Extract<BusEvent, { subscriptionId: string }>;

/** Certainly no instance got the request. */
export class NoResponder extends Error {
  override name = 'NoResponder';
  /** An instance may serve the subject all the same: it did not answer in time whether it does. */
  readonly isUndecided: boolean;

  constructor(
    message: string,
    { isUndecided = false, ...options }: ErrorOptions & { isUndecided?: boolean } = {},
  ) {
    super(message, options);
    this.isUndecided = isUndecided;
  }
}

/** No answer came in time, or its sender failed: the instance that serves the subject may or may not have got the request. */
export class NoAnswer extends Error {
  override name = 'NoAnswer';
}

/** Answers a request; what it throws is an answer too: `NoAnswer`. Both values are JSON. */
export type Responder = (request: unknown) => Promise<unknown>;

/** Whether an instance serves a subject. */
export interface Finding {
  /** When that was asked (clock, in milliseconds). */
  askedAt: number;
  /** Rejects unless one does; that is no unhandled rejection. */
  served: Promise<void>;
}

export interface Bus {
  /** False while messages to or from other instances may be lost; always true of the bus of a single instance. */
  readonly isConnected: boolean;
  /** The reason, for a person; undefined while it is connected. */
  trouble(): string | undefined;
  publish(event: BusEvent): void;
  /** Calls `listener` for each event, in the order of publication. */
  subscribe(listener: (event: BusEvent) => void): void;
  /** Asks whether an instance serves `subject`, for a request that follows soon. */
  find(subject: string): Finding;
  /**
   * Asks one of those who serve `subject`, and waits for its answer. Throws `NoResponder` or `NoAnswer`. Uses `finding`, of the same subject,
   * unless it is older than a second.
   */
  request(
    subject: string,
    request: unknown,
    options: { timeoutMs: number; finding?: Finding | undefined },
  ): Promise<unknown>;
  /** Serves `subject`, dot-separated words of a-z, 0-9 and -, until the returned function is called. */
  serve(subject: string, responder: Responder): () => void;
  stop(): Promise<void>;
}
