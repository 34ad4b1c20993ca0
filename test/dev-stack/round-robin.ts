// A load balancer without any opinion: each connection goes to the next instance that takes it.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

const CONNECT_TIMEOUT_MS = 1_000;

export interface RoundRobin {
  port: number;
  stop(): Promise<void>;
}

/** `port`: 0 for a free one. */
export async function startRoundRobin(port: number, targets: readonly number[]): Promise<RoundRobin> {
  const sockets = new Set<Socket>();
  let next = 0;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  const server = createServer({ noDelay: true }, (client) => {
    keep(client).pause();
    void (async () => {
      for (let tried = 0; tried < targets.length; tried += 1) {
        const target = await connected(Number(targets[next++ % targets.length]));
        if (target === undefined) continue;
        keep(target).setNoDelay(true);
        client.on('close', () => target.destroy());
        target.on('close', () => client.destroy());
        client.pipe(target).pipe(client);
        return;
      }
      client.destroy();
    })();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

/** Undefined when no instance takes the connection. */
async function connected(port: number): Promise<Socket | undefined> {
  const socket = connect({ port, host: '127.0.0.1' });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
    return socket;
  } catch {
    socket.destroy();
    return undefined;
  }
}
