// Whether the other end of a WebSocket is still there: a ping now and then, and the end of who does not answer.
import type { WebSocket } from 'ws';
import type { Clock, Timer } from '#shared/clock.ts';

/** Common proxies end what is silent for 30 or 60 s. */
export const PING_MS = 25_000;

/** Pings until the socket is closed. A peer that has not answered the last one is cut off. */
export function keepAlive(socket: WebSocket, clock: Clock): void {
  let isAnswered = true;
  let timer: Timer | undefined;
  const beat = (): void => {
    if (!isAnswered) {
      socket.terminate();
      return;
    }
    isAnswered = false;
    socket.ping();
    timer = clock.after(PING_MS, beat);
  };
  // The first at a random instant: clients that came at once are not asked at once.
  timer = clock.after(PING_MS * (0.5 + Math.random() / 2), beat);
  socket.on('pong', () => {
    isAnswered = true;
  });
  socket.on('close', () => timer?.cancel());
}
