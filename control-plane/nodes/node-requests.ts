// Runs the requests that operators left for nodes linked to this instance, and stores the answers.
import * as z from 'zod';
import type { Logger } from '#shared/log.ts';
import type { Bus } from '../bus/bus.ts';
import { OperatorRefusal } from '../domain/refusal.ts';
import type { Database } from '../store/database/database.ts';
import { answerRequest, type OperatorRequest, takeRequests } from '../store/operations/operator-requests.ts';
import type { Fleet } from './fleet.ts';
import type { NodeRequest, ServeNode } from './node-reach.ts';

interface NodeRequestsParts {
  db: Database;
  bus: Bus;
  log: Logger;
  fleet: Fleet;
  serve: ServeNode;
}

/** An instance of another version may know other requests. */
const requestSchema: z.ZodType<NodeRequest> = z.discriminatedUnion('call', [
  z.object({ call: z.literal('restartModem'), slot: z.string(), force: z.boolean() }),
  z.object({ call: z.literal('sendTest'), from: z.string(), to: z.string() }),
]);

/** Takes requests whenever the bus announces one. The caller withdraws a request that no instance takes. */
export function serveNodeRequests({ db, bus, log, fleet, serve }: NodeRequestsParts): void {
  async function outcomeOf(node: string, { call, input }: OperatorRequest) {
    const parsed = requestSchema.safeParse({ ...(input as object), call });
    if (!parsed.success)
      return { refusal: 'the instance with the link of the node does not support this request' };
    try {
      return { answer: await serve(node, parsed.data) };
    } catch (error) {
      if (error instanceof OperatorRefusal) return { refusal: error.message };
      log.error({ err: error, call, node }, 'an operator’s request to a node failed');
      return { refusal: 'the instance with the link of the node failed: see its log' };
    }
  }

  async function serveAll(node: string): Promise<void> {
    const requests = await takeRequests(db, node);
    await Promise.all(
      requests.map(async (request) => answerRequest(db, request.id, await outcomeOf(node, request))),
    );
  }

  bus.subscribe((event) => {
    if (event.kind !== 'node_asked' || fleet.find(event.nodeId) === undefined) return;
    serveAll(event.nodeId).catch((error: unknown) =>
      log.warn({ err: error, node: event.nodeId }, 'the answer to an operator’s request was not stored'),
    );
  });
}
