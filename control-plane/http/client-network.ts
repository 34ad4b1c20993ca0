// The key of an address limit: the network of one subscriber, because a subscriber can change the address at will.
import { isIPv4, isIPv6 } from 'node:net';

/** The form of some proxies: `192.0.2.1:50001`, `[2001:db8::1]:443`. */
const WITH_PORT = /^(?:\[(.*)\](?::\d+)?|([\d.]+):\d+)$/;

/** Text that is not an address is cut to this length and counted: a client may have written it. */
const TEXT_LENGTH_MAX = 64;

interface ClientNetwork {
  /** The IPv4 address itself; or the /64 of an IPv6 address, the least that a subscriber has (RFC 6177 §2). */
  network: string;
  /** The /48 around an IPv6 address: a site may have that many /64s. */
  site: string | undefined;
}

/** Accepts every spelling of an address. An IPv4 address in IPv6 form (`::ffff:192.0.2.1`) counts as IPv4. */
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

/** The eight groups of `text`, a valid IPv6 address. */
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
