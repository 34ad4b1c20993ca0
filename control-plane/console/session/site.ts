// The names of the console. A request under any other name that leads here (DNS rebinding) is refused.
import type { Context } from 'koa';
import { Refusal } from '../../domain/refusal.ts';

export interface Site {
  /** Origin of the console's pages, as a browser writes it. */
  origin: string;
  isEncrypted: boolean;
}

export interface SiteOptions {
  /** Address that it listens on. */
  consoleHost: string;
  /** Origin in front of a proxy. */
  consoleUrl: string | undefined;
  /** Proxies in front, where there is such an origin: that many entries at the end of X-Forwarded-For are believed. */
  proxyHops: number;
}

/**
 * The site that a request asked for: this host, the address that it came to, or `CONSOLE_URL`. Throws `Refusal`
 * `origin_not_allowed` for any other.
 */
export function siteOf(
  { headers, req }: Context,
  { consoleHost, consoleUrl }: Omit<SiteOptions, 'proxyHops'>,
): Site {
  const text = `http://${headers.host ?? ''}`;
  const asked = URL.canParse(text) ? new URL(text) : undefined;
  if (asked !== undefined && consoleUrl !== undefined && asked.host === hostOf(consoleUrl))
    return { origin: consoleUrl, isEncrypted: consoleUrl.startsWith('https:') };
  const own = ['localhost', consoleHost, req.socket.localAddress ?? ''].map(hostname);
  if (asked !== undefined && own.includes(asked.hostname))
    return { origin: asked.origin, isEncrypted: false };
  throw new Refusal(
    'origin_not_allowed',
    'The console does not serve this host name. Use localhost, its address, or the host of CONSOLE_URL.',
  );
}

/** With its port written out where it is that of the scheme: a proxy passes `Host` as the browser wrote it. */
const hostOf = (origin: string): string => new URL(origin.replace(/^https:/, 'http:')).host;

/** As in a URL: IPv6 in brackets, and IPv4 as itself. */
const hostname = (address: string): string => {
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '');
  return plain.includes(':') ? `[${plain}]` : plain;
};

/**
 * Lets a change in only from a page of the site itself. Throws `Refusal` `origin_not_allowed`. Browsers write `Origin` with every
 * POST (Fetch standard, "append a request `Origin` header"), and the newer ones `Sec-Fetch-Site`.
 */
export function checkSameOrigin(ctx: Context, { origin }: Site): void {
  const fetchSite = ctx.get('Sec-Fetch-Site');
  if (ctx.get('Origin') === origin && (fetchSite === '' || fetchSite === 'same-origin')) return;
  throw new Refusal('origin_not_allowed', 'Changes are accepted only from pages of the console.');
}

/** A path of ours as it is, `/` for anything else: "//host" and "/\host" are elsewhere to a browser. */
export const ownPath = (text: string): string => (/^\/(?![/\\])[\x21-\x7e]*$/.test(text) ? text : '/');
