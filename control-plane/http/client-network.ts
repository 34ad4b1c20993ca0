// Whom a limit counts: the network that one subscriber has, not the address that it may change at will.
import { isIPv6 } from 'node:net';

/** An IPv4 address is itself. An IPv6 subscriber has at least a /64 (RFC 6177 §2): its addresses count as one. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail = ''] = plain.split('::');
  const groups = head === '' ? [] : head.split(':');
  const last = tail === '' ? [] : tail.split(':');
  const zeros = plain.includes('::') ? Array(8 - groups.length - last.length).fill('0') : [];
  return [...groups, ...zeros, ...last].slice(0, 4).join(':');
}
