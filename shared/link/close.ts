// Why a control link ends or is refused, and when the node connects again: one table for both sides.

/**
 * The next step of the node. `retry`: it connects again soon, with growing waits. `slow`: it connects again every 30 s, because
 * someone has to change something first. `stop`: it waits until it is enrolled again, and asks only rarely.
 */
export type Reconnect = 'retry' | 'slow' | 'stop';

/** RFC 6455 §7.4; 44xx are ours (§7.4.2, private range). */
export const LINK_CLOSE = {
  /** The node opened a newer link, or stops. */
  left: 1000,
  /** The control plane restarts. */
  goingAway: 1001,
  /** The control plane cannot serve the link now. */
  internalError: 1011,
  /** The peer sent a frame that this version does not have. */
  protocolError: 4400,
  /** The key of the link is no longer valid: the node was enrolled again. */
  unauthorized: 4401,
  /** An operator revoked the node. */
  revoked: 4403,
  /** A newer link of the same node took over. */
  replaced: 4409,
  /** The two sides have no protocol version in common. */
  versionUnsupported: 4426,
} as const;

const RECONNECT_AFTER_CLOSE: Readonly<Record<(typeof LINK_CLOSE)[keyof typeof LINK_CLOSE], Reconnect>> = {
  [LINK_CLOSE.left]: 'retry',
  [LINK_CLOSE.goingAway]: 'retry',
  [LINK_CLOSE.internalError]: 'retry',
  [LINK_CLOSE.protocolError]: 'retry',
  [LINK_CLOSE.unauthorized]: 'stop',
  [LINK_CLOSE.revoked]: 'stop',
  // Another program uses this node's key. The two must not replace each other's links forever.
  [LINK_CLOSE.replaced]: 'slow',
  [LINK_CLOSE.versionUnsupported]: 'slow',
};

/** HTTP status of a refused upgrade: an operator has not approved the node's key yet. With `Retry-After`; `retry`. */
export const APPROVAL_PENDING_STATUS = 409;

/** HTTP statuses of a refused upgrade; others are `retry`. */
export const RECONNECT_AFTER_STATUS: Readonly<Record<number, Reconnect>> = {
  /** The node is not known, or its proof is wrong. */
  401: 'stop',
  /** An operator revoked the node. */
  403: 'stop',
  /** No control plane at this URL. */
  404: 'slow',
};

export const reconnectAfterClose = (code: number): Reconnect =>
  (RECONNECT_AFTER_CLOSE as Readonly<Record<number, Reconnect>>)[code] ?? 'retry';

export const reconnectAfterStatus = (status: number): Reconnect => RECONNECT_AFTER_STATUS[status] ?? 'retry';
