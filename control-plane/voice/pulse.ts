// Pings the other end of a WebSocket, and ends the connection if it does not respond.
import type { WebSocket } from 'ws';
import type { Clock, Timer } from '#shared/clock.ts';
import type { Random } from '#shared/random.ts';

/** Common proxies end connections that are silent for 30 or 60 s. */
const PING_MS = 25_000;

/** Pings until the socket is closed. A peer that has not responded to the last ping is cut off. */
export function keepAlive(
  socket: WebSocket,
  { clock, random }: { clock: Clock; random: Random },
  pingMs = PING_MS,
): void {
  let isAnswered = true;
  let timer: Timer | undefined;
  const beat = (): void => {
    if (!isAnswered) {
      socket.terminate();
      return;
    }
    isAnswered = false;
    socket.ping();
    timer = clock.after(pingMs, beat);
  };
  // The first ping is at a random time, so that clients that connect together are not pinged together.
  timer = clock.after(pingMs * (0.5 + random() / 2), beat);
  socket.on('pong', () => {
    isAnswered = true;
  });
  socket.on('close', () => timer?.cancel());
}
