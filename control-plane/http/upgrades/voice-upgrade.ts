// The WebSockets of calls: clients' streams and presence, and the media links of nodes.
import type { IncomingMessage } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import * as z from 'zod';
import { STREAM_PROTOCOLS, type StreamProtocol, VOICE_SUBPROTOCOL } from '#shared/api/voice-frames.ts';
import type { Clock } from '#shared/clock.ts';
import type { Random } from '#shared/random.ts';
import { STREAM_CLOSE } from '#shared/voice/close-code.ts';
import { MEDIA_FRAME_BYTES_MAX, MEDIA_PING_MS } from '#shared/voice/media.ts';
import { check } from '../../domain/checked-input.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Subscription } from '../../domain/subscription.ts';
import { checkOwnNumber } from '../../handlers/voice.ts';
import type { MediaTickets } from '../../voice/media-tickets.ts';
import type { Presence } from '../../voice/presence.ts';
import { keepAlive } from '../../voice/pulse.ts';
import { StreamAllowances } from '../../voice/stream-allowance.ts';
import { closeSoon } from '../../voice/stream-client.ts';
import { type OpenStreamParts, openStream } from '../../voice/streams/open-stream.ts';
import { RAW_MESSAGE_BYTES_MAX } from '../../voice/streams/raw-stream.ts';
import { TWILIO_MESSAGE_BYTES_MAX } from '../../voice/streams/twilio-stream.ts';
import { VONAGE_MESSAGE_BYTES_MAX } from '../../voice/streams/vonage-stream.ts';
import { errorAnswerOf } from '../error-body.ts';
import { writeAnswer } from '../raw-answer.ts';
import type { UpgradeHandler } from '../server.ts';
import { limitClosing, limitFrames } from './frame-limit.ts';
import type { SocketGuard } from './socket-guard.ts';
import { stopping, type UpgradeHandlers } from './upgrades.ts';

/** Watchers of presence send nothing. */
const PRESENCE_MESSAGE_BYTES_MAX = 1024;

/** Messages of streams and media links have limits of their own. */
const CONTROL_FRAMES = ['ping', 'pong'] as const;

/** Unknown parameters are refused by name, as those of requests are. */
const STREAM_QUERY = z.strictObject({ protocol: z.string().optional() });
const PRESENCE_QUERY = z.strictObject({});

const STOP_TIMEOUT_MS = 1_000;

interface VoiceUpgradeParts extends Omit<OpenStreamParts, 'allowances'> {
  guard: SocketGuard;
  tickets: MediaTickets;
  presence: Presence;
  random: Random;
}

type VoiceUpgrades = Omit<UpgradeHandlers, 'nodeLink'> & {
  /** Open sockets by kind. */
  open(): Record<'media' | 'stream' | 'presence', number>;
  /** Refuses new sockets, and closes all that are open, within a limited time. */
  stop(): Promise<void>;
};

export function createVoiceUpgrades(parts: VoiceUpgradeParts): VoiceUpgrades {
  const { guard, clock } = parts;
  const opening: OpenStreamParts = { ...parts, allowances: new StreamAllowances(clock) };
  const server = (maxPayload: number): WebSocketServer => createSocketServer(maxPayload, parts);
  const streams = {
    raw: server(RAW_MESSAGE_BYTES_MAX),
    twilio: server(TWILIO_MESSAGE_BYTES_MAX),
    vonage: server(VONAGE_MESSAGE_BYTES_MAX),
  };
  const presences = server(PRESENCE_MESSAGE_BYTES_MAX);
  const medias = server(MEDIA_FRAME_BYTES_MAX);
  let isStopping = false;
  /** The last step: nothing may be awaited between it and a check before. */
  const accept = (
    server: WebSocketServer,
    [request, socket, head]: Parameters<UpgradeHandler>,
    onOpen: (client: WebSocket) => void,
  ): void => {
    if (isStopping) throw stopping();
    if (!socket.destroyed) server.handleUpgrade(request, socket, head, onOpen);
  };
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
      accept(medias, [request, socket, head], (link) => {
        keepAlive(link, parts, MEDIA_PING_MS);
        limitFrames(link, clock, CONTROL_FRAMES);
        limitClosing(link);
        onLink(link);
      });
    },
    async stream(request, socket, head, callId, query) {
      const subscription = await guard.admit(request);
      const protocol = protocolOf(query);
      checkSubprotocol(request);
      accept(streams[protocol], [request, socket, head], (client) => {
        keep(client, request, subscription);
        limitFrames(client, clock, CONTROL_FRAMES);
        limitClosing(client);
        openStream(opening, client, { subscription, callId, protocol });
      });
    },
    async presence(request, socket, head, number, query) {
      const subscription = await guard.admit(request);
      check(PRESENCE_QUERY, Object.fromEntries(query));
      await checkOwnNumber(parts, subscription, number);
      accept(presences, [request, socket, head], (client) => {
        keep(client, request, subscription);
        limitFrames(client, clock, ['message', ...CONTROL_FRAMES]);
        parts.presence.add(client, subscription);
      });
    },
    open: () => ({
      media: medias.clients.size,
      stream: Object.values(streams).reduce((open, { clients }) => open + clients.size, 0),
      presence: presences.clients.size,
    }),
    stop(): Promise<void> {
      isStopping = true;
      return closeAll([...Object.values(streams), presences, medias], clock);
    },
  };
}

/** Codes with which the library closes (RFC 6455 §7.4.1). */
const REASONS: Readonly<Record<number, string>> = {
  1002: 'not a valid WebSocket frame',
  1007: 'a text frame must be UTF-8',
  1009: 'the message is too long',
};

/** Its close frames always have a reason, also when the library closes it for a bad frame. */
class ReasonedSocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    super.close(code, reason ?? (code === undefined ? undefined : REASONS[code]));
  }
}

function createSocketServer(
  maxPayload: number,
  { clock, log }: Pick<VoiceUpgradeParts, 'clock' | 'log'>,
): WebSocketServer {
  const sockets = new WebSocketServer({
    noServer: true,
    WebSocket: ReasonedSocket,
    maxPayload,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(VOICE_SUBPROTOCOL) ? VOICE_SUBPROTOCOL : false),
  });
  sockets.on('wsClientError', (error, socket) =>
    writeAnswer(socket, clock, errorAnswerOf(handshakeRefusal(error), log)),
  );
  return sockets;
}

/** The message of ws names the header. */
function handshakeRefusal({ message }: Error): Refusal {
  const field = /Sec-WebSocket-\w+/.exec(message)?.[0] ?? 'Upgrade';
  return new Refusal('invalid_request', message, { details: { field } });
}

async function closeAll(servers: readonly WebSocketServer[], clock: Clock): Promise<void> {
  const open = servers.flatMap(({ clients }) => [...clients]);
  const closed = open.map((client) => new Promise((resolve) => client.once('close', resolve)));
  for (const client of open) closeSoon(client, clock, { code: STREAM_CLOSE.goingAway, reason: 'restart' });
  const timer = clock.after(STOP_TIMEOUT_MS, () => {
    for (const client of open) client.terminate();
  });
  await Promise.all(closed);
  timer.cancel();
}

/** Many clients close a stream that does not have the subprotocol they offered. By then it would have replaced the older stream. */
function checkSubprotocol({ headers }: IncomingMessage): void {
  const offered = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];
  if (offered.length === 0 || offered.includes(VOICE_SUBPROTOCOL)) return;
  throw new Refusal('invalid_request', `The subprotocol must be ${VOICE_SUBPROTOCOL} or absent.`, {
    details: { field: 'Sec-WebSocket-Protocol', expected: VOICE_SUBPROTOCOL },
  });
}

function protocolOf(query: URLSearchParams): StreamProtocol {
  const protocol = query.get('protocol');
  const known = STREAM_PROTOCOLS.find((name) => name === (protocol ?? 'raw'));
  // Bots for other services may have parameters of their own in the URL.
  if (known === 'raw') check(STREAM_QUERY, Object.fromEntries(query));
  if (known !== undefined) return known;
  throw new Refusal('invalid_request', `"protocol" must be ${STREAM_PROTOCOLS.join(', ')} or absent`, {
    details: { field: 'protocol', expected: STREAM_PROTOCOLS.join(', ') },
  });
}
