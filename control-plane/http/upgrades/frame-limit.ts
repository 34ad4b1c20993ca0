// Ends a WebSocket whose peer sends more than it has reason to: each frame takes time from the others.
import type { WebSocket } from 'ws';
import type { Clock } from '#shared/clock.ts';
import { TokenBucket } from '#shared/token-bucket.ts';
import { PRESENCE_CLOSE } from '#shared/voice/close-code.ts';
import { emitMetric } from '../../metrics/metric-events.ts';

/** A peer answers a ping every 25 s, and may send some of its own. */
const FRAMES = { burst: 100, perSecond: 10 };

/** `kinds`: the frames that count. */
export function limitFrames(
  socket: WebSocket,
  clock: Clock,
  kinds: ReadonlyArray<'message' | 'ping' | 'pong'>,
): void {
  const limit = new TokenBucket(clock, FRAMES);
  for (const kind of kinds)
    socket.on(kind, () => {
      if (limit.tryTake()) return;
      if (socket.readyState === socket.OPEN) {
        emitMetric({ kind: 'rate_limited', limit: 'frames' });
        socket.close(PRESENCE_CLOSE.tooManyMessages, 'too many frames');
      }
      // Until the peer answers the close, its frames would be read.
      socket.terminate();
    });
}

/** Messages that are read while a socket is closing: a peer sends on until it reads the close. */
const CLOSING_MESSAGES_MAX = 3_000;

/** Ends a WebSocket whose peer goes on sending while it is closing, when no other limit counts. */
export function limitClosing(socket: WebSocket): void {
  let messages = 0;
  socket.on('message', () => {
    if (socket.readyState === socket.OPEN) return;
    messages += 1;
    if (messages > CLOSING_MESSAGES_MAX) socket.terminate();
  });
}
