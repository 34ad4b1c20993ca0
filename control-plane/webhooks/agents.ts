// Connections to receivers of webhooks: to public addresses only, checked for each connection after the name was resolved.
import { Resolver, lookup as systemLookup } from 'node:dns';
import type { Agent } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent';

/** Public addresses that are not for everyone: the metadata service of Azure. */
const DENIED = ['168.63.129.16'];

/** Global unicast (RFC 4291 §2.4). The filter lets other addresses pass, such as those that contain an IPv4 address (§2.5.5.1). */
const IPV6_PUBLIC = ipaddr.IPv6.parseCIDR('2000::/3');

/** An idle connection stays open for the next event of a burst. */
const IDLE_MS = 5_000;
const IDLE_PER_RECEIVER_MAX = 4;

const DNS_TIMEOUT_MS = 3_000;
const DNS_TRIES = 2;

export interface AgentOptions {
  /** For receivers of the operator, and for development. */
  allowsPrivate: boolean;
  /** Certificates to trust instead of the well-known ones, in PEM. */
  ca?: string | undefined;
  /** Name servers, instead of those of the system. */
  nameServers?: readonly string[] | undefined;
}

export interface Agents {
  /** Throws if the host of the URL is an address that is not allowed: see `isAddressRefused`. */
  of(url: URL): Agent;
  destroy(): void;
}

class AddressRefusedError extends Error {
  override name = 'AddressRefusedError';
}

export function createAgents({ allowsPrivate, ca, nameServers }: AgentOptions): Agents {
  const lookup = allowsPrivate && nameServers === undefined ? systemLookup : createLookup(nameServers);
  const options = {
    keepAlive: true,
    timeout: IDLE_MS,
    maxFreeSockets: IDLE_PER_RECEIVER_MAX,
    lookup: allowsPrivate ? lookup : publicOnly(lookup),
    allowPrivateIPAddress: allowsPrivate,
    allowMetaIPAddress: allowsPrivate,
    denyIPAddressList: DENIED,
  };
  const http = new RequestFilteringHttpAgent(options);
  const https = new RequestFilteringHttpsAgent({ ...options, ...(ca === undefined ? {} : { ca }) });
  return {
    of({ hostname, protocol }) {
      if (!allowsPrivate) checkAddresses([hostname.replace(/^\[|\]$/g, '')]);
      return protocol === 'https:' ? https : http;
    },
    destroy() {
      http.destroy();
      https.destroy();
    },
  };
}

/**
 * Resolves names without the thread pool of the process, which `dns.lookup` uses: a few names whose servers do not answer would block its
 * four threads, and with them files and all other names.
 */
function createLookup(nameServers: readonly string[] | undefined): LookupFunction {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  if (nameServers !== undefined) resolver.setServers(nameServers);
  const resolve = (hostname: string, family: 4 | 6): Promise<{ address: string; family: number }[]> =>
    new Promise((done, fail) => {
      const end = (error: Error | null, addresses: string[]): void => {
        if (error) fail(error);
        else done(addresses.map((address) => ({ address, family })));
      };
      if (family === 4) resolver.resolve4(hostname, end);
      else resolver.resolve6(hostname, end);
    });
  return (hostname, options, callback) => {
    const family = isIP(hostname);
    const found =
      family === 0
        ? Promise.allSettled([resolve(hostname, 4), resolve(hostname, 6)]).then((results) => {
            const addresses = results.flatMap((result) =>
              result.status === 'fulfilled' ? result.value : [],
            );
            const [failed] = results.flatMap((result) =>
              result.status === 'rejected' ? [result.reason] : [],
            );
            if (addresses.length === 0) throw failed ?? new Error('the name has no address');
            return addresses;
          })
        : Promise.resolve([{ address: hostname, family }]);
    found.then(
      (addresses) => {
        const [first] = addresses;
        if (options.all === true) callback(null, addresses);
        else callback(null, first?.address ?? '', first?.family ?? 4);
      },
      (error: unknown) => callback(error as NodeJS.ErrnoException, ''),
    );
  };
}

/** Names may be resolved to public addresses only, besides the filter's own check. */
const publicOnly =
  (lookup: LookupFunction): LookupFunction =>
  (hostname, options, callback) =>
    lookup(hostname, options, (error, found, family) => {
      if (error !== null) return callback(error, '');
      try {
        checkAddresses(typeof found === 'string' ? [found] : found.map(({ address }) => address));
      } catch (refused) {
        return callback(refused as Error, '');
      }
      return callback(null, found, family);
    });

/** Throws `AddressRefusedError`. Names pass. */
function checkAddresses(hosts: readonly string[]): void {
  const refused = hosts.find((host) => isIP(host) !== 0 && !isPublicAddress(host));
  if (refused !== undefined) throw new AddressRefusedError(`${refused} is not a public address`);
}

export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text) || DENIED.includes(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(IPV6_PUBLIC);
}

/** The filter's errors have no code. */
export const isAddressRefused = (error: unknown): boolean =>
  error instanceof AddressRefusedError ||
  (error instanceof Error && /^DNS lookup .* is not allowed\./.test(error.message));
