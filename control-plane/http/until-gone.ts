// When a client gives up: its connection is gone before the answer was.
import type { ServerResponse } from 'node:http';

/** Aborted when the connection is gone before all of the answer was handed to the network. */
export function untilGone(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const { socket } = response;
  let isSent = false;
  // Node 20 emits `finish` even when the connection was lost before it had taken the answer.
  response.prependOnceListener('finish', () => {
    isSent = socket?.destroyed === false;
  });
  response.once('close', () => {
    if (!isSent) controller.abort();
  });
  if (response.destroyed) controller.abort();
  return controller.signal;
}
