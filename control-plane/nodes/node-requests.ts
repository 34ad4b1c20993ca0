// Runs the requests that operators left for nodes linked to this instance, restarts of a modem among them, and stores the answers.
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { OperatorError } from '#shared/operator/operator-error.ts';
import type { Base } from '../bus/base.ts';
import { OperatorRefusal, OperatorUnfinished } from '../domain/refusal.ts';
import { answerRequest, type OperatorRequest, takeRequests } from '../store/operations/operator-requests.ts';
import { type Fleet, type NodeLink, NodeUnavailable } from './fleet.ts';
import type { NodeRequest, ServeNode } from './node-reach.ts';
import { CommandRefused } from './pending-commands.ts';

interface NodeRequestsParts extends Pick<Base, 'db' | 'bus' | 'log'> {
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
      if (error instanceof OperatorError) return { refusal: error.message };
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

/** The node first finishes sending a message, if there is one. */
const COMMAND_TIMEOUT_MS = 10_000;

/** Resolves when the node has begun. Throws `OperatorRefusal`; `OperatorUnfinished` when the node may have begun. */
export async function restartModem(link: NodeLink, slot: string, force: boolean): Promise<void> {
  try {
    await link.command(
      'restart_modem',
      { slot, force },
      { id: `restart_${randomUUID()}`, timeLeftMs: COMMAND_TIMEOUT_MS, timeoutMs: COMMAND_TIMEOUT_MS },
    );
  } catch (error) {
    if (error instanceof CommandRefused) throw new OperatorRefusal(wordsOf(error, link.nodeId));
    if (!(error instanceof NodeUnavailable)) throw error;
    if (!error.isSent) throw new OperatorRefusal(`${link.nodeId} did not get the request: ${error.message}`);
    throw new OperatorUnfinished(
      `${link.nodeId} has not answered (${error.message}): check its slot to see whether the modem restarts`,
    );
  }
}

function wordsOf({ code, message }: CommandRefused, node: string): string {
  if (code === 'command_unknown') return `${node} is too old to restart a modem from here: upgrade it`;
  if (code === 'line_busy') return 'a call is up on this modem: wait until it ends, or use force';
  return message;
}
