// Drops the rest of a request that was refused before its body was read.
import type { IncomingMessage } from 'node:http';

/** Bytes that are read and dropped. */
const DISCARDED_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Many clients read the response only after they have sent everything. A client that sends without end is cut off. Resolves when the rest
 * has arrived, or no more will.
 */
export function discardRest(request: IncomingMessage): Promise<void> {
  let left = DISCARDED_BYTES_MAX;
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.socket.destroy();
  });
  request.on('error', () => undefined);
  request.resume();
  return new Promise((resolve) => {
    request.once('end', resolve);
    request.once('close', resolve);
  });
}
