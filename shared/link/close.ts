// Why a link ends, or does not begin, and whether to come back: one table for both sides.

/**
 * What the one who is left does: `retry` soon, with waits that grow; `slow`, every 30 s, because somebody
 * has to change something first; `stop` until the node is enrolled anew, and ask again only rarely.
 */
export type Comeback = 'retry' | 'slow' | 'stop';

/** RFC 6455 §7.4; 44xx are ours (§7.4.2, private range). */
export const LINK_CLOSE = {
  /** The node has a newer link, or ends. */
  left: 1000,
  /** The server ends or restarts. */
  goingAway: 1001,
  /** The server cannot serve the link now. */
  internalError: 1011,
  /** The peer sent something that is no frame of this version. */
  protocolError: 4400,
  /** The key that proved the link is no longer this node's: it was enrolled anew. */
  unauthorized: 4401,
  /** The operator took the node out of service. */
  revoked: 4403,
  /** A newer link of the same node took over. */
  replaced: 4409,
  /** No version in common. */
  versionUnsupported: 4426,
} as const;

const COMEBACK_AFTER_CLOSE: Readonly<Record<(typeof LINK_CLOSE)[keyof typeof LINK_CLOSE], Comeback>> = {
  [LINK_CLOSE.left]: 'retry',
  [LINK_CLOSE.goingAway]: 'retry',
  [LINK_CLOSE.internalError]: 'retry',
  [LINK_CLOSE.protocolError]: 'retry',
  [LINK_CLOSE.unauthorized]: 'stop',
  [LINK_CLOSE.revoked]: 'stop',
  // Somebody else has this node's key: the two must not push each other out without end.
  [LINK_CLOSE.replaced]: 'slow',
  [LINK_CLOSE.versionUnsupported]: 'slow',
};

/** HTTP status of a refused upgrade: an operator has not approved the node's key yet. With `Retry-After`; `retry`. */
export const APPROVAL_PENDING_STATUS = 409;

/** HTTP statuses of a refused upgrade; others are `retry`. */
const COMEBACK_AFTER_STATUS: Readonly<Record<number, Comeback>> = {
  /** The proof is not that of a known node, even with the server's time in it. */
  401: 'stop',
  /** The node was revoked. */
  403: 'stop',
  /** There is no control plane at this URL. */
  404: 'slow',
};

export const comebackAfterClose = (code: number): Comeback =>
  (COMEBACK_AFTER_CLOSE as Readonly<Record<number, Comeback>>)[code] ?? 'retry';

export const comebackAfterStatus = (status: number): Comeback => COMEBACK_AFTER_STATUS[status] ?? 'retry';
