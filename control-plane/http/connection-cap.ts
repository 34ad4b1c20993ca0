// How many connections one network may have open: what is more is closed before anything of it is read.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { observe } from '../metrics/observation.ts';
import { clientNetworkOf } from './client-network.ts';

/**
 * Counts by the address at the other end of the socket, WebSockets included; an IPv6 /64 is one. A connection beyond
 * `max` is reset: an answer would keep it, and what it costs, for longer.
 */
export function capConnections(server: Server, max: number): void {
  const open = new Map<string, number>();
  const counted = new WeakSet<Socket>();
  server.on('connection', (socket: Socket) => {
    // A socket comes again where a request offered another protocol in vain.
    if (socket.remoteAddress === undefined || counted.has(socket)) return;
    const { network } = clientNetworkOf(socket.remoteAddress);
    const before = open.get(network) ?? 0;
    if (before >= max) {
      observe({ kind: 'rate_limited', limit: 'connections' });
      socket.resetAndDestroy();
      return;
    }
    counted.add(socket);
    open.set(network, before + 1);
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1;
      if (left > 0) open.set(network, left);
      else open.delete(network);
    });
  });
}
