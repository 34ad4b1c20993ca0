// The operations of a running service: the operator API, the nodes linked to this or another instance, and probes.
import type { Destinations } from '#shared/destination-list.ts';
import type { Base } from '../bus/base.ts';
import { OperatorRefusal } from '../domain/refusal.ts';
import { repeat } from '../housekeeping/repeat.ts';
import type { Fleet } from '../nodes/fleet.ts';
import { createNodeReach, type NodeAnswers, type NodeRequest, type ServeNode } from '../nodes/node-reach.ts';
import { restartModem, serveNodeRequests } from '../nodes/node-requests.ts';
import { Arrivals } from '../probes/probe-text.ts';
import { Prober } from '../probes/prober.ts';
import { deleteOldRequests } from '../store/operations/operator-requests.ts';
import type { LiveCalls } from '../voice/live-calls.ts';
import { createOperatorApi } from './operator-api.ts';
import type { Operator } from './procedures/all-procedures.ts';

const MINUTE_MS = 60_000;

/** A round begins at most this much late; without rounds there is only little to tidy up. */
const LOOK_MS = 10_000;

interface OperationsParts extends Base {
  fleet: Fleet;
  live: LiveCalls;
  sendTimeoutMs: number;
  /** Base URL that nodes are given. */
  url: string;
  probeMinutes: number | undefined;
  probeCalls: boolean;
  probeTimeoutMs: number;
  destinations: Destinations;
}

export interface Operations {
  /** The operator API in the name of `actor`, which the audit log records. */
  operatorFor(actor: string): Operator;
  stop(): Promise<void>;
}

export function createOperations(parts: OperationsParts): Operations {
  const { db, bus, clock, log, fleet, probeMinutes } = parts;
  const prober = new Prober({
    ...parts,
    arrivals: new Arrivals(bus, clock),
    withCalls: parts.probeCalls,
    timeoutMs: parts.probeTimeoutMs,
    periodMs: probeMinutes && probeMinutes * MINUTE_MS,
  });
  async function serve(node: string, request: NodeRequest): Promise<NodeAnswers[NodeRequest['call']]> {
    if (request.call === 'sendTest') return prober.test(request.from, request.to);
    const link = fleet.find(node);
    if (link === undefined) throw new OperatorRefusal(`${node} has no link now`);
    await restartModem(link, request.slot, request.force);
    return {};
  }
  const here = { fleet, serve: serve as ServeNode };
  serveNodeRequests({ db, bus, log, ...here });
  const notify = (nodeId: string): void => bus.publish({ kind: 'node_asked', nodeId });
  const nodes = createNodeReach({ db, clock, here, notify });
  const subscriptionChanged = (subscriptionId: string): void =>
    bus.publish({ kind: 'subscription_changed', subscriptionId });
  const probing = repeat(
    { clock, log, task: 'probes', everyMs: probeMinutes === undefined ? MINUTE_MS : LOOK_MS },
    async () => {
      await prober.check();
      await deleteOldRequests(db);
    },
  );
  return {
    operatorFor: (actor) =>
      createOperatorApi({ db, clock, nodes, url: parts.url, subscriptionChanged, actor }),
    async stop() {
      await prober.stop();
      await probing.stop();
    },
  };
}
