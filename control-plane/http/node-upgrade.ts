// The upgrade of a node's control link: who it is, then a session.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { WebSocketServer } from 'ws';
import { NODE_ID_HEADER, nodeIdSchema } from '#shared/link/credential.ts';
import { LINK_FRAME_BYTES_MAX, LINK_PATH } from '#shared/link/version.ts';
import { Refusal } from '../domain/refusal.ts';
import { NodeSession, type NodeSessionParts } from '../nodes/node-session.ts';
import { answerOf } from './error-body.ts';
import { noSocketHere, type UpgradeHandler, writeAnswer } from './server.ts';

/** Sessions that are open, so that a stop can wait for them. */
export interface NodeUpgrades {
  onUpgrade: UpgradeHandler;
  /** Resolves when every session has ended. */
  settled(): Promise<void>;
}

export function createNodeUpgrades(parts: NodeSessionParts, linkSecret: string): NodeUpgrades {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: LINK_FRAME_BYTES_MAX,
    perMessageDeflate: false,
  });
  sockets.on('wsClientError', (error, socket) =>
    writeAnswer(socket, answerOf(new Refusal('invalid_request', error.message), parts.log)),
  );
  const sessions = new Set<Promise<void>>();
  return {
    onUpgrade(request, socket, head) {
      const [pathname = ''] = (request.url ?? '').split('?');
      if (pathname !== LINK_PATH) throw noSocketHere(pathname);
      const nodeId = identify(request, linkSecret);
      sockets.handleUpgrade(request, socket, head, (webSocket) => {
        const { closed } = new NodeSession(webSocket, nodeId, parts);
        sessions.add(closed);
        void closed.finally(() => sessions.delete(closed));
      });
    },
    async settled() {
      await Promise.all(sessions);
    },
  };
}

function identify(request: IncomingMessage, linkSecret: string): string {
  const nodeId = String(request.headers[NODE_ID_HEADER.toLowerCase()] ?? '');
  const given = request.headers.authorization ?? '';
  if (!isEqual(given, `Bearer ${linkSecret}`) || !nodeIdSchema.safeParse(nodeId).success) {
    throw new Refusal('unauthorized', 'this node is not known', {
      headers: { 'WWW-Authenticate': 'Bearer' },
    });
  }
  return nodeId;
}

function isEqual(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
