// Opens the stream of a call for a client: finds the call, and selects the protocol.
import type { WebSocket } from 'ws';
import type { StreamProtocol } from '#shared/api/voice-frames.ts';
import { STREAM_CLOSE } from '#shared/voice/close-code.ts';
import type { CreateResampler } from '#shared/voice/resample.ts';
import type { Base } from '../../bus/base.ts';
import type { Subscription } from '../../domain/subscription.ts';
import { storableText } from '../../store/database/reported-values.ts';
import type { CallSession } from '../call-session.ts';
import type { LiveCalls } from '../live-calls.ts';
import type { StreamAllowances } from '../stream-allowance.ts';
import { closeSoon, type StreamClient } from '../stream-client.ts';
import { RawStream } from './raw-stream.ts';
import { TwilioStream } from './twilio-stream.ts';
import { VonageStream } from './vonage-stream.ts';

/**
 * The client did not leave on purpose: the connection broke without a close frame (RFC 6455 §7.1.5), or this side closed it for its content
 * or its token. It may reconnect.
 */
const DROPPED: ReadonlySet<number> = new Set([
  1006,
  STREAM_CLOSE.invalidData,
  STREAM_CLOSE.tooManyMessages,
  STREAM_CLOSE.tooBig,
  STREAM_CLOSE.tokenEnded,
]);

export interface OpenStreamParts extends Pick<Base, 'db' | 'clock' | 'log'> {
  live: LiveCalls;
  allowances: StreamAllowances;
  createResampler: CreateResampler;
}

interface WantedStream {
  subscription: Subscription;
  callId: string;
  protocol: StreamProtocol;
}

/** Connects the socket to the stream of the call, or closes it with the reason. */
export function openStream(parts: OpenStreamParts, socket: WebSocket, wanted: WantedStream): void {
  const { callId, subscription } = wanted;
  const here = parts.live.find(callId, subscription.id);
  if (here === undefined) void openElsewhere(parts, socket, wanted);
  else connect(parts, socket, here, wanted);
}

/** Opens the stream of a call that another instance tracks. */
async function openElsewhere(parts: OpenStreamParts, socket: WebSocket, wanted: WantedStream): Promise<void> {
  const { clock, live, log } = parts;
  const { callId, subscription } = wanted;
  // Messages of the client wait meanwhile.
  socket.pause();
  try {
    const session = await live.open(storableText(callId), subscription.id);
    socket.resume();
    if (session === undefined) closeSoon(socket, clock, NO_CALL);
    else if (socket.readyState === socket.OPEN) connect(parts, socket, session, wanted);
  } catch (error) {
    log.error({ err: error }, 'finding a call failed');
    socket.resume();
    closeSoon(socket, clock, { code: STREAM_CLOSE.internalError, reason: 'internal error' });
  }
}

const NO_CALL = { code: STREAM_CLOSE.noCall, reason: 'the call does not exist or has ended' };

function connect(
  parts: OpenStreamParts,
  socket: WebSocket,
  session: CallSession,
  { protocol, subscription }: WantedStream,
): void {
  const client = clientOf(parts, socket, { session, protocol, subscription });
  socket.on('close', (code) => session.leave(client, DROPPED.has(code) ? 'dropped' : 'closed'));
  session.attach(client);
}

function clientOf(
  { allowances, clock, createResampler, log }: OpenStreamParts,
  socket: WebSocket,
  {
    session,
    protocol,
    subscription,
  }: { session: CallSession; protocol: StreamProtocol; subscription: Subscription },
): StreamClient {
  const allowance = allowances.of(subscription.id);
  if (protocol === 'raw') return new RawStream(socket, { allowance, call: session, clock });
  const { callId, direction, peer, number } = session.call;
  const options = {
    identity: { callId, accountId: subscription.id, direction, peer, number },
    call: session,
    allowance,
    clock,
    log: log.child({ call: callId, protocol }),
  };
  if (protocol === 'vonage') return new VonageStream(socket, options);
  return new TwilioStream(socket, { ...options, createResampler });
}
