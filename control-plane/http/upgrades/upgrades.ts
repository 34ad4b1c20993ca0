// All WebSockets of the service: their paths and handlers.
import type { IncomingMessage } from 'node:http';
import { LINK_PATH } from '#shared/link/version.ts';
import { MEDIA_PATH } from '#shared/voice/media.ts';
import { Refusal } from '../../domain/refusal.ts';
import { countRefused, type RequestLimit } from '../request-limit.ts';
import type { UpgradeHandler } from '../server.ts';

export interface UpgradeHandlers {
  nodeLink: UpgradeHandler;
  mediaLink: UpgradeHandler;
  /** Also get the rest of the path, decoded, and the query. */
  stream: (...args: [...Parameters<UpgradeHandler>, callId: string, query: URLSearchParams]) => Promise<void>;
  presence: (
    ...args: [...Parameters<UpgradeHandler>, number: string, query: URLSearchParams]
  ) => Promise<void>;
}

/** By then another instance is running, or this one again. */
const RETRY_AFTER_SECONDS = 1;

export const tryLater = (message: string): Refusal =>
  new Refusal('restarting', message, { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } });

export const stopping = (): Refusal => tryLater('This instance is stopping.');

const VOICE_PATH = /^\/voice\/(stream|presence)\/([^/]+)$/;

/** Limits refused proofs of nodes and refused tickets per address. Tokens have a limit of their own. */
interface LinkLimit {
  limit: RequestLimit;
  addressOf(request: IncomingMessage): string;
}

/** Dispatches an upgrade by its path. Throws `Refusal`: `not_found` for any other path, `rate_limited`. */
export function routeUpgrades(handlers: UpgradeHandlers, { limit, addressOf }: LinkLimit): UpgradeHandler {
  const limited =
    (handler: UpgradeHandler): UpgradeHandler =>
    (request, socket, head) =>
      countRefused(limit, addressOf(request), () => handler(request, socket, head));
  const nodeLink = limited(handlers.nodeLink);
  const mediaLink = limited(handlers.mediaLink);
  return async (request, socket, head) => {
    const [pathname = '', query = ''] = (request.url ?? '').split('?', 2);
    if (pathname === LINK_PATH) return nodeLink(request, socket, head);
    if (pathname === MEDIA_PATH) return mediaLink(request, socket, head);
    const [, kind, rest = ''] = VOICE_PATH.exec(pathname) ?? [];
    const last = decoded(rest);
    if (kind === undefined || last === undefined)
      throw new Refusal('not_found', `No WebSocket exists at ${pathname}.`);
    const handler = kind === 'presence' ? handlers.presence : handlers.stream;
    return handler(request, socket, head, last, new URLSearchParams(query));
  };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
