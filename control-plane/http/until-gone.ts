// Detects that a client gave up: its connection closed before the response was sent.
import type { ServerResponse } from 'node:http';

/** A signal that aborts when the connection closes before the whole response was handed to the network. */
export function untilGone(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const { socket } = response;
  let isSent = false;
  // Node 20 emits `finish` even if the connection was lost before it accepted the response.
  response.prependOnceListener('finish', () => {
    isSent = socket?.destroyed === false;
  });
  response.once('close', () => {
    if (!isSent) controller.abort();
  });
  if (response.destroyed) controller.abort();
  return controller.signal;
}
