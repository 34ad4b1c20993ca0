// The WebSockets of calls: clients' streams and presence, and the media links of nodes.
import type { IncomingMessage } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { VOICE_SUBPROTOCOL } from '#shared/api/voice-frames.ts';
import { STREAM_CLOSE } from '#shared/voice/close-code.ts';
import { MEDIA_FRAME_BYTES_MAX, MEDIA_PING_MS } from '#shared/voice/media.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Subscription } from '../../domain/subscription.ts';
import { checkOwnNumber } from '../../handlers/voice.ts';
import type { MediaTickets } from '../../voice/media-tickets.ts';
import { type OpenStreamParts, openStream, type StreamProtocol } from '../../voice/open-stream.ts';
import type { Presence } from '../../voice/presence.ts';
import { keepAlive } from '../../voice/pulse.ts';
import { RAW_MESSAGE_BYTES_MAX } from '../../voice/raw-stream.ts';
import { closeSoon } from '../../voice/stream-client.ts';
import { TWILIO_MESSAGE_BYTES_MAX } from '../../voice/twilio-stream.ts';
import { answerOf } from '../error-body.ts';
import { writeAnswer } from '../raw-answer.ts';
import type { SocketGuard } from './socket-guard.ts';
import type { UpgradeHandlers } from './upgrades.ts';

/** Watchers of presence send nothing. */
const PRESENCE_MESSAGE_BYTES_MAX = 1024;

const STOP_TIMEOUT_MS = 1_000;

interface VoiceUpgradeParts extends OpenStreamParts {
  guard: SocketGuard;
  tickets: MediaTickets;
  presence: Presence;
}

type VoiceUpgrades = Omit<UpgradeHandlers, 'nodeLink'> & {
  /** Open sockets by kind. */
  open(): Record<'media' | 'stream' | 'presence', number>;
  /** Closes all remaining sockets, within a limited time. */
  stop(): Promise<void>;
};

export function createVoiceUpgrades(parts: VoiceUpgradeParts): VoiceUpgrades {
  const { guard, clock, log } = parts;
  const server = (maxPayload: number): WebSocketServer => {
    const sockets = new WebSocketServer({
      noServer: true,
      maxPayload,
      perMessageDeflate: false,
      handleProtocols: (offered) => (offered.has(VOICE_SUBPROTOCOL) ? VOICE_SUBPROTOCOL : false),
    });
    sockets.on('wsClientError', (error, socket) =>
      writeAnswer(socket, answerOf(new Refusal('invalid_request', error.message), log)),
    );
    return sockets;
  };
  const streams = { raw: server(RAW_MESSAGE_BYTES_MAX), twilio: server(TWILIO_MESSAGE_BYTES_MAX) };
  const presences = server(PRESENCE_MESSAGE_BYTES_MAX);
  const medias = server(MEDIA_FRAME_BYTES_MAX);
  const keep = (socket: WebSocket, request: IncomingMessage, subscription: Subscription): void =>
    guard.keep(socket, request.headers.authorization, subscription);

  return {
    async mediaLink(request, socket, head) {
      const onLink = parts.tickets.use(request.headers.authorization);
      if (onLink === undefined) {
        throw new Refusal('unauthorized', 'A valid ticket is required.', {
          headers: { 'WWW-Authenticate': 'SimrackMedia' },
        });
      }
      if (socket.destroyed) return;
      medias.handleUpgrade(request, socket, head, (link) => {
        keepAlive(link, clock, MEDIA_PING_MS);
        onLink(link);
      });
    },
    async stream(request, socket, head, callId, query) {
      const subscription = await guard.admit(request);
      const protocol = protocolOf(query);
      if (socket.destroyed) return;
      streams[protocol].handleUpgrade(request, socket, head, (client) => {
        keep(client, request, subscription);
        openStream(parts, client, { subscription, callId, protocol });
      });
    },
    async presence(request, socket, head, number) {
      const subscription = await guard.admit(request);
      await checkOwnNumber(parts, subscription, number);
      if (socket.destroyed) return;
      presences.handleUpgrade(request, socket, head, (client) => {
        keep(client, request, subscription);
        parts.presence.add(client, subscription);
      });
    },
    open: () => ({
      media: medias.clients.size,
      stream: streams.raw.clients.size + streams.twilio.clients.size,
      presence: presences.clients.size,
    }),
    async stop() {
      const open = [streams.raw, streams.twilio, presences, medias].flatMap(({ clients }) => [...clients]);
      const closed = open.map((client) => new Promise((resolve) => client.once('close', resolve)));
      for (const client of open)
        closeSoon(client, clock, { code: STREAM_CLOSE.goingAway, reason: 'restart' });
      const timer = setTimeout(() => {
        for (const client of open) client.terminate();
      }, STOP_TIMEOUT_MS);
      await Promise.all(closed);
      clearTimeout(timer);
    },
  };
}

function protocolOf(query: URLSearchParams): StreamProtocol {
  const protocol = query.get('protocol');
  if (protocol === null) return 'raw';
  if (protocol === 'twilio') return 'twilio';
  throw new Refusal('invalid_request', '"protocol" must be twilio or absent', {
    details: { field: 'protocol' },
  });
}
