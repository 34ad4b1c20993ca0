// Sends an operator's request to a node: over its link at this instance, or through the instance that has its link.
import { sleep } from '#shared/clock.ts';
import type { Base } from '../bus/base.ts';
import { OperatorRefusal, OperatorUnfinished } from '../domain/refusal.ts';
import {
  findAnswer,
  leaveRequest,
  nodeStanding,
  withdrawRequest,
} from '../store/operations/operator-requests.ts';
import type { Fleet } from './fleet.ts';

/** Requests of operators to a node, with their answers. */
export interface NodeAnswers {
  restartModem: Record<string, never>;
  sendTest: { id: string };
}

export type NodeRequest =
  | { call: 'restartModem'; slot: string; force: boolean }
  | { call: 'sendTest'; from: string; to: string };

type AnswerTo<R extends NodeRequest> = NodeAnswers[R['call']];

/** Runs a request for a node whose link is at this instance. Throws `OperatorRefusal`. */
export type ServeNode = <R extends NodeRequest>(node: string, request: R) => Promise<AnswerTo<R>>;

export interface NodeReach {
  /** Throws `OperatorRefusal` when the node cannot be reached, or refuses. */
  ask<R extends NodeRequest>(node: string, request: R): Promise<AnswerTo<R>>;
  /** Ends a link that the node may no longer have; a link at another instance ends within a heartbeat. */
  recheck(node: string): Promise<void>;
}

/** An instance takes a request within this time, or none will. */
const TAKEN_MS = 3_000;
/** Longer than any command to a node takes. */
const ANSWER_MS = 20_000;
const POLL_MS = 100;

interface NodeReachParts extends Pick<Base, 'db' | 'clock'> {
  /** Undefined outside of the service. */
  here?: { fleet: Fleet; serve: ServeNode } | undefined;
  /** Notifies the instances that a request waits for one of them. */
  notify(node: string): Promise<void> | void;
}

export function createNodeReach({ db, clock, here, notify }: NodeReachParts): NodeReach {
  const now = (): Date => new Date(clock.now());

  async function refuseUnreachable(node: string): Promise<void> {
    const standing = await nodeStanding(db, node, now());
    if (standing === 'unknown') throw new OperatorRefusal(`there is no node "${node}"`);
    if (standing === 'away') throw new OperatorRefusal(`${node} has no link: it cannot get requests now`);
  }

  async function askElsewhere<R extends NodeRequest>(node: string, request: R): Promise<AnswerTo<R>> {
    await refuseUnreachable(node);
    const begunMs = clock.now();
    const { call, ...input } = request;
    const id = await leaveRequest(db, { node, call, input, takeMs: TAKEN_MS });
    await notify(node);
    while (clock.now() - begunMs < ANSWER_MS) {
      await sleep(clock, POLL_MS);
      const answered = await findAnswer(db, id);
      if (answered !== undefined && 'refusal' in answered) throw new OperatorRefusal(answered.refusal);
      if (answered !== undefined) return answered.answer as AnswerTo<R>;
      if (clock.now() - begunMs > TAKEN_MS && (await withdrawRequest(db, id))) throw notTaken(node);
    }
    throw new OperatorUnfinished(
      `the outcome is unknown: the instance with the link of ${node} does not respond`,
    );
  }

  return {
    ask: (node, request) =>
      here?.fleet.find(node) === undefined ? askElsewhere(node, request) : here.serve(node, request),
    async recheck(node) {
      await here?.fleet.find(node)?.recheck();
    },
  };
}

const notTaken = (node: string): OperatorRefusal =>
  new OperatorRefusal(`no instance of the service has the link of ${node} now: try again in a moment`);
