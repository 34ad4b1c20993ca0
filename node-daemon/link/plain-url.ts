// Finds URLs whose data others on the network could read and change.
import { isIPv4 } from 'node:net';

/** Returns true for a URL without TLS to another host: `http:` or `ws:` to anything but 127.0.0.0/8, ::1 and localhost. */
export function isPlainUrl(text: string): boolean {
  const { hostname, protocol } = new URL(text.replace(/^ws/i, 'http'));
  return protocol === 'http:' && !isLoopback(hostname);
}

/** `hostname` comes from a URL, in which an IPv4 address always has four numbers. */
const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'));
