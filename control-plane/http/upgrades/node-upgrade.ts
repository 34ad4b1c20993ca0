// The upgrade of a node's control link: who it is, then a session; and the end of all sessions at a stop.
import { WebSocketServer } from 'ws';
import { readProof } from '#shared/link/proof.ts';
import { LINK_FRAME_BYTES_MAX } from '#shared/link/version.ts';
import { Refusal } from '../../domain/refusal.ts';
import { identify } from '../../nodes/identity-check.ts';
import { NodeSession, type NodeSessionParts } from '../../nodes/node-session.ts';
import { answerOf } from '../error-body.ts';
import { writeAnswer } from '../raw-answer.ts';
import type { UpgradeHandler } from '../server.ts';

/** Upgrades whose proof is being checked; a fleet that comes back at once is smaller. */
const CHECKS_MAX = 1_000;

/** By then another instance is there, or this one after a restart. */
const RETRY_AFTER_SECONDS = 1;

export interface NodeUpgrades {
  onUpgrade: UpgradeHandler;
  /** Links of nodes. */
  open(): number;
  /** Refuses new links, asks the nodes to disconnect, and resolves when every session has ended, in bounded time. */
  drain(): Promise<void>;
}

export function createNodeUpgrades(parts: NodeSessionParts): NodeUpgrades {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: LINK_FRAME_BYTES_MAX,
    perMessageDeflate: false,
  });
  sockets.on('wsClientError', (error, socket) =>
    writeAnswer(socket, answerOf(new Refusal('invalid_request', error.message), parts.log)),
  );
  const sessions = new Set<NodeSession>();
  let isDraining = false;
  let checks = 0;
  parts.bus.subscribe((event) => {
    if (event.kind !== 'node_changed') return;
    for (const session of sessions) if (session.nodeId !== event.nodeId) session.othersChanged();
  });

  function refuseWhileDraining(authorization: string | undefined): void {
    if (!isDraining) return;
    // It came back to the instance that sent it away: there is no other.
    const nodeId = readProof(authorization)?.nodeId;
    for (const session of sessions) if (session.nodeId === nodeId) session.hasNowhereToGo();
    throw tryLater('this instance is about to stop');
  }

  async function check(authorization: string | undefined) {
    if (checks >= CHECKS_MAX) throw tryLater('too many nodes connect at once');
    checks += 1;
    try {
      return await identify(parts, authorization);
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
      sockets.handleUpgrade(request, socket, head, (webSocket) => {
        const session = new NodeSession(webSocket, node, parts);
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

const tryLater = (message: string): Refusal =>
  new Refusal('restarting', message, { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } });
