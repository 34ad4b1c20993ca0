// Hints from one part of an instance to the others, some also to other instances. A missed hint leaves an error for a
// bounded time only.
import type { CallRow, EndedCall } from '../store/messages/calls.ts';

export type BusEvent =
  /** Tokens revoked, year extended, purged: what was remembered of the subscription is stale. */
  | { kind: 'subscription_changed'; subscriptionId: string }
  /** A received SMS is committed and can be claimed. */
  | { kind: 'sms_received'; subscriptionId: string }
  /** A call is up or on its way, or has come further, and that is stored. `instance`: who has its node's link. */
  | { kind: 'call_changed'; instance: string; call: CallRow }
  /** A call has ended, and that is stored. Told once for each call. */
  | { kind: 'call_ended'; call: EndedCall }
  /** An operator wants something of this node: `operator_requests` has it, for the instance with its link. */
  | { kind: 'node_asked'; nodeId: string }
  /** A probe has come to its other end, and that is stored. */
  | { kind: 'probe_arrived'; probeId: string }
  /** What is known of a node or its slots is another than before, and that is stored; or events of it are. */
  | { kind: 'node_changed'; nodeId: string }
  /** A client of the tools has given a call up; `call` names it, and says nothing. */
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
