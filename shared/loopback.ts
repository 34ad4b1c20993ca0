// Names and addresses that other machines cannot reach, and requests of web pages to them.

const IPV4 = /^127(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/;

/** Whether it is a name or an address of this machine alone. In a URL, IPv6 addresses have brackets. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1').replace(/^::ffff:/, '');
  return address === 'localhost' || address === '::1' || IPV4.test(address);
}

/** Whether a page in a browser sent the request: it has an Origin, or Sec-Fetch-Site (Fetch Metadata). */
export function isOfWebPage(headers: Readonly<Record<string, string | string[] | undefined>>): boolean {
  const { origin, 'sec-fetch-site': site = 'none' } = headers;
  return origin !== undefined || site !== 'none';
}

/** Whether a Host header names this machine alone. */
export function isLoopbackHost(header: string): boolean {
  const url = `http://${header}`;
  return URL.canParse(url) && isLoopback(new URL(url).hostname);
}
