// Every WebSocket of the service on one page: its path, and who takes it.
import { LINK_PATH } from '#shared/link/version.ts';
import { MEDIA_PATH } from '#shared/voice/media.ts';
import { Refusal } from '../domain/refusal.ts';
import type { UpgradeHandler } from './server.ts';

export interface UpgradeHandlers {
  nodeLink: UpgradeHandler;
  mediaLink: UpgradeHandler;
  /** With the rest of the path, decoded. */
  stream: (...args: [...Parameters<UpgradeHandler>, callId: string, query: URLSearchParams]) => Promise<void>;
  presence: (...args: [...Parameters<UpgradeHandler>, number: string]) => Promise<void>;
}

const VOICE_PATH = /^\/voice\/(stream|presence)\/([^/]+)$/;

/** Takes an upgrade to the one whose path it has. Throws `Refusal` `not_found` for any other. */
export function routeUpgrades(handlers: UpgradeHandlers): UpgradeHandler {
  return async (request, socket, head) => {
    const [pathname = '', query = ''] = (request.url ?? '').split('?', 2);
    if (pathname === LINK_PATH) return handlers.nodeLink(request, socket, head);
    if (pathname === MEDIA_PATH) return handlers.mediaLink(request, socket, head);
    const [, kind, rest = ''] = VOICE_PATH.exec(pathname) ?? [];
    const last = decoded(rest);
    if (kind === undefined || last === undefined)
      throw new Refusal('not_found', `there is no socket at ${pathname}`);
    if (kind === 'presence') return handlers.presence(request, socket, head, last);
    return handlers.stream(request, socket, head, last, new URLSearchParams(query));
  };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
