// HTTP servers that listen at a port until they are stopped.
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Listening {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Makes a server listen on `host`, by default 127.0.0.1; port 0 takes a free one. Rejects, with the name of its `option`, when the port is
 * not available.
 */
export async function listen(
  server: Server,
  { host = '127.0.0.1', port, option }: { host?: string; port: number; option: string },
): Promise<Listening> {
  server.listen(port, host);
  await once(server, 'listening').catch((cause: Error) => {
    throw portError(option, port, cause);
  });
  return { port: (server.address() as AddressInfo).port, stop: () => stopServer(server) };
}

/** Ends the open connections, too. */
export function stopServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** An error that names the option of the port, such as "PORT: port 8080 is already in use". */
function portError(option: string, port: number, cause: NodeJS.ErrnoException): Error {
  const what = cause.code === 'EADDRINUSE' ? `port ${port} is already in use` : cause.message;
  return new Error(`${option}: ${what}`, { cause });
}
