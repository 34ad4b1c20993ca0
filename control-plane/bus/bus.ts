// Hints from one part of an instance to the others, some also to other instances. A missed hint causes an error for a limited time only.
import type { CallRow, EndedCall } from '../store/messages/calls.ts';

export type BusEvent =
  /** Tokens revoked, year extended, or purged: cached data of the subscription is stale. */
  | { kind: 'subscription_changed'; subscriptionId: string }
  /** A received SMS is committed and can be claimed. */
  | { kind: 'sms_received'; subscriptionId: string }
  /** A call began or advanced, and that is stored. `instance`: the instance with its node's link. */
  | { kind: 'call_changed'; instance: string; call: CallRow }
  /** A call has ended, and that is stored. Published once per call. */
  | { kind: 'call_ended'; call: EndedCall }
  /** An operator's request for this node is in `operator_requests`, for the instance with its link. */
  | { kind: 'node_asked'; nodeId: string }
  /** A probe has arrived, and that is stored. */
  | { kind: 'probe_arrived'; probeId: string }
  /** The node, its slots or their events changed, and that is stored. */
  | { kind: 'node_changed'; nodeId: string }
  /** An MCP client canceled a call of a tool. `call` identifies it without content. */
  | { kind: 'tool_call_cancelled'; call: string };

/** Events about a subscription as a whole. */
export type SubscriptionEvent = Extract<BusEvent, { subscriptionId: string }>;

export interface Bus {
  publish(event: BusEvent): void;
  /** Calls `listener` for each event, in the order of publication. */
  subscribe(listener: (event: BusEvent) => void): void;
}

/** The bus of a single instance: listeners are called before `publish` returns. */
export function createLocalBus(): Bus {
  const listeners: Array<(event: BusEvent) => void> = [];
  return {
    publish(event) {
      for (const listener of listeners) listener(event);
    },
    subscribe(listener) {
      listeners.push(listener);
    },
  };
}
