// The key of a limit: the network of one subscriber, not the address, which the subscriber may change at will.
import { isIPv4, isIPv6 } from 'node:net';

/** As some proxies write them: `192.0.2.1:50001`, `[2001:db8::1]:443`. */
const WITH_PORT = /^(?:\[(.*)\](?::\d+)?|([\d.]+):\d+)$/;

/** Text that is not an address is cut to this length and counted: a client may have written it. */
const TEXT_LENGTH_MAX = 64;

export interface ClientNetwork {
  /** An IPv4 address itself; the /64 of an IPv6 address, which is the least that a subscriber has (RFC 6177 §2). */
  network: string;
  /** The /48 around an IPv6 address: a site may have that many /64s. */
  site: string | undefined;
}

/** However the address is written; an IPv4 address in the form of IPv6 (`::ffff:192.0.2.1`) is that IPv4 address. */
export function clientNetworkOf(address: string): ClientNetwork {
  if (isIPv4(address)) return { network: address, site: undefined };
  const trimmed = address.trim();
  const [, bracketed, dotted] = WITH_PORT.exec(trimmed) ?? [];
  const [plain = ''] = (bracketed ?? dotted ?? trimmed).replace(/^::ffff:(?=\d+\.)/i, '').split('%');
  if (isIPv4(plain)) return { network: plain, site: undefined };
  if (!isIPv6(plain)) return { network: address.slice(0, TEXT_LENGTH_MAX), site: undefined };
  const groups = groupsOf(plain);
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  if (isMapped) return { network: groups.slice(6).flatMap(octetsOf).join('.'), site: undefined };
  const [a = 0, b = 0, c = 0, d = 0] = groups;
  const site = `${hexOf(a)}:${hexOf(b)}:${hexOf(c)}`;
  return { network: `${site}:${hexOf(d)}`, site };
}

/** The eight groups of an IPv6 address. `text` is one. */
function groupsOf(text: string): number[] {
  const [head = '', tail] = text.split('::');
  const groups = readGroups(head);
  if (tail === undefined) return groups;
  const last = readGroups(tail);
  while (groups.length + last.length < 8) groups.push(0);
  return groups.concat(last);
}

function readGroups(text: string): number[] {
  const groups: number[] = [];
  for (const group of text === '' ? [] : text.split(':')) {
    if (group.includes('.')) {
      const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
      groups.push(a * 256 + b, c * 256 + d);
    } else groups.push(Number.parseInt(group, 16));
  }
  return groups;
}

const octetsOf = (group: number): number[] => [group >> 8, group & 0xff];
const hexOf = (group: number): string => group.toString(16);
