// Ends a WebSocket whose peer sends more than it has reason to: each frame takes time from the others.
import type { WebSocket } from 'ws';
import type { Clock } from '#shared/clock.ts';
import { TokenBucket } from '#shared/token-bucket.ts';

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
      if (socket.readyState === socket.OPEN && !limit.takes()) socket.terminate();
    });
}
