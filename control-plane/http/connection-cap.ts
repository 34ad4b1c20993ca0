// Limits the open connections of one network: further ones are closed before anything is read.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { emitMetric } from '../metrics/metric-events.ts';
import { clientNetworkOf } from './client-network.ts';

/**
 * Counts by the address at the other end of the socket, WebSockets included; an IPv6 /64 is one address. A connection beyond `max` is
 * reset: a response would keep it, and its cost, for longer.
 */
export function capConnections(server: Server, max: number): void {
  const open = new Map<string, number>();
  const counted = new WeakSet<Socket>();
  server.on('connection', (socket: Socket) => {
    // A socket is reported again after a request whose protocol upgrade was ignored.
    if (socket.remoteAddress === undefined || counted.has(socket)) return;
    const { network } = clientNetworkOf(socket.remoteAddress);
    const before = open.get(network) ?? 0;
    if (before >= max) {
      emitMetric({ kind: 'rate_limited', limit: 'connections' });
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
