// How to connect with NATS: servers, credentials, TLS, and how soon a lost connection is noticed.
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import {
  type Authenticator,
  type ConnectionOptions,
  credsAuthenticator,
  type TlsOptions,
} from '@nats-io/transport-node';
import { messageOf } from '#shared/error-message.ts';

export const CONNECT_TIMEOUT_MS = 5_000;
export const RECONNECT_MS = 500;
/** A server that does not answer two pings is gone. */
const PING_MS = 5_000;
const PINGS_MAX = 2;

export interface NatsOptions {
  /** `nats://` or `tls://` URLs, with user and password or token if needed. */
  servers: readonly string[];
  /** File with a user's JWT and seed, as `nsc` writes it. */
  credentialsFile: string | undefined;
  /** PEM file of the authority that signed the servers' certificates; undefined: the system's. */
  caFile: string | undefined;
}

export async function connectionOptions({
  servers,
  credentialsFile,
  caFile,
}: NatsOptions): Promise<ConnectionOptions> {
  const urls = servers.map((text) => new URL(text));
  const [first] = urls;
  const isTls = urls.some(({ protocol }) => protocol === 'tls:');
  const user = decodeURIComponent(first?.username ?? '');
  const pass = decodeURIComponent(first?.password ?? '');
  return {
    servers: urls.map(({ host }) => host),
    name: 'simrack-control-plane',
    timeout: CONNECT_TIMEOUT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MS,
    // Credentials may be changed on the server first, or be back soon.
    ignoreAuthErrorAbort: true,
    pingInterval: PING_MS,
    maxPingOut: PINGS_MAX,
    noAsyncTraces: true,
    ...(user !== '' && pass === '' ? { token: user } : {}),
    ...(pass === '' ? {} : { user, pass }),
    ...(credentialsFile === undefined ? {} : { authenticator: await authenticatorOf(credentialsFile) }),
    ...(isTls ? { tls: await tlsOptions(urls, caFile) } : {}),
  };
}

async function tlsOptions(urls: readonly URL[], caFile: string | undefined): Promise<TlsOptions> {
  const hosts = urls.map(({ hostname }) => hostname.replace(/^\[|\]$/g, ''));
  const options = {
    // The library names no host for a server that is an IP address, and Node.js then compares the certificate with "localhost".
    checkServerIdentity(name: string, certificate: PeerCertificate): Error | undefined {
      const addresses = hosts.filter((host) => isIP(host) !== 0);
      const names = hosts.includes(name) || addresses.length === 0 ? [name] : addresses;
      const problems = names.map((each) => checkServerIdentity(each, certificate));
      return problems.includes(undefined) ? undefined : problems[0];
    },
    ...(caFile === undefined ? {} : { ca: await authorityOf(caFile) }),
  };
  return options;
}

// Both files are checked at the start: a connection that fails is repeated for ever, with a line in the log.

const authenticatorOf = (path: string): Promise<Authenticator> =>
  readOption('NATS_CREDENTIALS_FILE', path, (bytes) => {
    const authenticator = credsAuthenticator(bytes);
    authenticator('any text that a server asks to have signed');
    return authenticator;
  });

const authorityOf = (path: string): Promise<string> =>
  readOption('NATS_CA_FILE', path, (bytes) => {
    new X509Certificate(bytes);
    return bytes.toString();
  });

async function readOption<T>(name: string, path: string, read: (bytes: Buffer) => T): Promise<T> {
  try {
    return read(await readFile(path));
  } catch (error) {
    throw new Error(`${name}: ${path} cannot be used: ${messageOf(error)}`, { cause: error });
  }
}
