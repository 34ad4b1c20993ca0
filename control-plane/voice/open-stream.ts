// Opens the stream of a call for a client: finds the call, and selects the protocol.
import type { WebSocket } from 'ws';
import { STREAM_CLOSE } from '#shared/voice/close-code.ts';
import type { CreateResampler } from '#shared/voice/resample.ts';
import type { Base } from '../bus/base.ts';
import type { Subscription } from '../domain/subscription.ts';
import { storableText } from '../store/database/database.ts';
import { findCall } from '../store/messages/calls.ts';
import type { LiveCalls } from './live-calls.ts';
import { RawStream } from './raw-stream.ts';
import { closeSoon, type StreamClient } from './stream-client.ts';
import { TwilioStream } from './twilio-stream.ts';

export type StreamProtocol = 'raw' | 'twilio';

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
  createResampler: CreateResampler;
}

/** Connects the socket to the stream of the call, or closes it with the reason. */
export function openStream(
  parts: OpenStreamParts,
  socket: WebSocket,
  {
    subscription,
    callId,
    protocol,
  }: { subscription: Subscription; callId: string; protocol: StreamProtocol },
): void {
  const { live, clock, createResampler } = parts;
  const session = live.find(callId, subscription.id);
  if (session === undefined) {
    void closeWithReason(parts, socket, { subscription, callId });
    return;
  }
  const client: StreamClient =
    protocol === 'raw'
      ? new RawStream(socket, { call: session, clock })
      : new TwilioStream(socket, {
          callId,
          accountId: subscription.id,
          call: session,
          clock,
          createResampler,
        });
  socket.on('close', (code) => session.leave(client, DROPPED.has(code) ? 'dropped' : 'closed'));
  session.attach(client);
}

async function closeWithReason(
  { db, clock, log }: OpenStreamParts,
  socket: WebSocket,
  { subscription, callId }: { subscription: Subscription; callId: string },
): Promise<void> {
  try {
    const known = await findCall(db, storableText(callId), subscription.id);
    const end =
      known === undefined || known.state === 'ended'
        ? { code: STREAM_CLOSE.noCall, reason: 'there is no such call, or it has ended' }
        : {
            code: STREAM_CLOSE.restart,
            reason: 'the node of this call is not linked here yet: open the stream again',
          };
    closeSoon(socket, clock, end);
  } catch (error) {
    log.error({ err: error }, 'finding a call failed');
    closeSoon(socket, clock, { code: STREAM_CLOSE.internalError, reason: 'internal error' });
  }
}
