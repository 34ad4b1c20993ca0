// Names and addresses that other machines cannot reach.
import { isIP } from 'node:net';

/** Whether it is a name or an address of this machine alone. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  const address = host.replace(/^::ffff:/, '');
  return isIP(address) === 4 && address.startsWith('127.');
}

/** Whether a Host header names this machine alone. */
export function isLoopbackHost(header: string): boolean {
  const url = `http://${header}`;
  return URL.canParse(url) && isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, ''));
}
