// When a client gives up: its connection is gone before the answer was.
import type { ServerResponse } from 'node:http';

/** Aborted when the connection is gone before all of the answer was handed to the network. */
export function untilGone(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const { socket } = response;
  let isSent = false;
  // Node 20 tells of the end of an answer, too, when the connection that still had to take it was lost.
  response.prependOnceListener('finish', () => {
    isSent = socket?.destroyed === false;
  });
  response.once('close', () => {
    if (!isSent) controller.abort();
  });
  if (response.destroyed) controller.abort();
  return controller.signal;
}
