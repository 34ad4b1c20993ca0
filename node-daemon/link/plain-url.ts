// Whether a third party on the network could read and change the data that goes over a URL.
import { isIPv4 } from 'node:net';

/** Without TLS, and not to this host: `http:` or `ws:` to anything but 127.0.0.0/8, ::1 and localhost. */
export function isPlainUrl(text: string): boolean {
  const { hostname, protocol } = new URL(text.replace(/^ws/i, 'http'));
  return protocol === 'http:' && !isLoopback(hostname);
}

/** `hostname` as URLs write it: an IPv4 address in all its forms is four numbers there. */
const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'));
