// The upgrade of a node's control link: authenticates the node, then starts a session; ends all sessions at a stop.
import { WebSocketServer } from 'ws';
import { readProof } from '#shared/link/proof.ts';
import { LINK_FRAME_BYTES_MAX } from '#shared/link/version.ts';
import { Refusal } from '../../domain/refusal.ts';
import { emitMetric } from '../../metrics/metric-events.ts';
import { factBudgets, frameBudgets, linkBudgets } from '../../nodes/frame-limiter.ts';
import { identify } from '../../nodes/identity-check.ts';
import { NodeSession, type NodeSessionParts } from '../../nodes/node-session.ts';
import { reportBudgets } from '../../nodes/report-budget.ts';
import { errorAnswerOf } from '../error-body.ts';
import { writeAnswer } from '../raw-answer.ts';
import type { UpgradeHandler } from '../server.ts';
import { limitClosing } from './frame-limit.ts';
import { stopping, tryLater } from './upgrades.ts';

/** Concurrent checks of proofs; more than any fleet that reconnects together. */
const CHECKS_MAX = 1_000;

/** For a node that opens links too often. */
const RELINK_AFTER_SECONDS = 5;

interface NodeUpgrades {
  onUpgrade: UpgradeHandler;
  /** Open links of nodes. */
  open(): number;
  /** Refuses new links, asks the nodes to disconnect, and resolves when every session has ended, within a limited time. */
  drain(): Promise<void>;
}

export function createNodeUpgrades(
  parts: Omit<NodeSessionParts, 'budget' | 'reportBudget' | 'factBudgets'>,
): NodeUpgrades {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: LINK_FRAME_BYTES_MAX,
    perMessageDeflate: false,
  });
  sockets.on('wsClientError', (error, socket) =>
    writeAnswer(socket, parts.clock, errorAnswerOf(new Refusal('invalid_request', error.message), parts.log)),
  );
  const frames = frameBudgets(parts.clock);
  const facts = factBudgets(parts.clock);
  const links = linkBudgets(parts.clock);
  const reports = reportBudgets(parts.clock);
  const sessions = new Set<NodeSession>();
  let isDraining = false;
  let checks = 0;
  parts.bus.subscribe((event) => {
    if (event.kind !== 'node_changed' || !event.mayHaveReleased) return;
    for (const session of sessions) if (session.nodeId !== event.nodeId) session.othersChanged();
  });

  function refuseWhileDraining(authorization: string | undefined): void {
    if (!isDraining) return;
    // It reconnected to the instance that sent it away: there is no other instance.
    const nodeId = readProof(authorization)?.nodeId;
    for (const session of sessions) if (session.nodeId === nodeId) session.hasNowhereToGo();
    throw stopping();
  }

  async function check(authorization: string | undefined) {
    if (checks >= CHECKS_MAX) throw tryLater('Too many nodes are connecting at once.');
    checks += 1;
    try {
      return await parts.fleet.proving.run(() => identify(parts, authorization));
    } finally {
      checks -= 1;
    }
  }

  return {
    async onUpgrade(request, socket, head) {
      const { authorization } = request.headers;
      refuseWhileDraining(authorization);
      const node = await check(authorization);
      refuseWhileDraining(authorization);
      if (socket.destroyed) return;
      if (!links.of(node.nodeId).tryTake()) throw tooManyLinks();
      sockets.handleUpgrade(request, socket, head, (webSocket) => {
        limitClosing(webSocket);
        const session = new NodeSession(webSocket, node, {
          ...parts,
          budget: frames.of(node.nodeId),
          factBudgets: facts,
          reportBudget: reports.of(node.nodeId),
        });
        sessions.add(session);
        void session.closed.finally(() => sessions.delete(session));
      });
    },
    open: () => sessions.size,
    async drain() {
      isDraining = true;
      await Promise.all([...sessions].map((session) => session.drain()));
    },
  };
}

function tooManyLinks(): Refusal {
  emitMetric({ kind: 'rate_limited', limit: 'link' });
  return new Refusal('rate_limited', 'The node opens links too often.', {
    headers: { 'Retry-After': String(RELINK_AFTER_SECONDS) },
  });
}
