// Whom a limit counts: the network that one subscriber has, not the address that it may change at will.
import { isIPv4, isIPv6 } from 'node:net';

/** As some proxies write them: `192.0.2.1:50001`, `[2001:db8::1]:443`. */
const WITH_PORT = /^(?:\[(.*)\](?::\d+)?|([\d.]+):\d+)$/;

/** However it is written: an IPv4 address is itself. An IPv6 subscriber has at least a /64 (RFC 6177 §2): its addresses count as one. */
export function networkOf(address: string): string {
  const trimmed = address.trim();
  const [, bracketed, dotted] = WITH_PORT.exec(trimmed) ?? [];
  const [plain = ''] = (bracketed ?? dotted ?? trimmed).replace(/^::ffff:(?=\d+\.)/i, '').split('%');
  if (isIPv4(plain)) return plain;
  if (!isIPv6(plain)) return address;
  // RFC 5952: in small letters, without zeros that say nothing.
  const canonical = new URL(`http://[${plain}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(canonical) ?? [];
  if (high !== undefined && low !== undefined) return [...bytesOf(high), ...bytesOf(low)].join('.');
  const [head = '', tail = ''] = canonical.split('::');
  const groups = head === '' ? [] : head.split(':');
  const last = tail === '' ? [] : tail.split(':');
  const zeros = canonical.includes('::') ? Array(8 - groups.length - last.length).fill('0') : [];
  return [...groups, ...zeros, ...last].slice(0, 4).join(':');
}

const bytesOf = (group: string): Buffer => Buffer.from(group.padStart(4, '0'), 'hex');
