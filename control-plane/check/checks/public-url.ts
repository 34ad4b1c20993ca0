// Checks of the service from its own port and from its public URL: does it answer, do WebSockets and addresses of clients arrive?
import { WebSocket } from 'ws';
import * as z from 'zod';
import { jsonOf } from '#shared/json.ts';
import { LINK_PATH } from '#shared/link/version.ts';
import { isLoopback } from '#shared/loopback.ts';
import { type Outcome, ok, problem, skipped, warning } from '#shared/operator/findings.ts';
import { type Check, type CheckedSettings, once } from './check.ts';
import { askHttp, codeOf, failureAdvice } from './http-answer.ts';

/** An address reserved for documentation (RFC 5737): no client has it. */
const FORGED = '203.0.113.77';

const READY_PATH = '/health/ready';
const LIVE_PATH = '/health/live';
const CLIENT_PATH = '/health/client';

const readySchema = z.object({
  status: z.enum(['pass', 'warn', 'fail']),
  checks: z.record(z.string(), z.object({ status: z.string(), output: z.string().optional() })),
});
const liveSchema = z.object({ status: z.literal('pass') });
const clientSchema = z.object({ address: z.string(), forwarded: z.int() });
const refusalSchema = z.object({ error: z.string() });

const ADVICE_START = 'Start the service, then run this check again.';

export function publicChecks({ config }: CheckedSettings): Check[] {
  const { publicUrl } = config;
  const base = publicUrl?.replace(/\/+$/, '');
  // Several checks depend on it.
  const local = once(() => askService(config));
  const fromOutside = (
    check: string,
    ask: (base: string, signal: AbortSignal) => Promise<Outcome>,
  ): Check => ({
    check,
    chain: null,
    async run(signal) {
      if (base === undefined) return skipped('PUBLIC_URL is not set');
      const outcome = await ask(base, signal);
      if (outcome.verdict !== 'problem' || (await local()).isRunning !== false) return outcome;
      return warning(`${outcome.seen}; the service does not run`, ADVICE_START);
    },
  });
  return [
    { check: 'service', chain: null, run: async () => (await local()).outcome },
    base === undefined
      ? {
          check: 'public_url',
          chain: null,
          run: async () =>
            warning(
              `not set: clients are given http://${config.host}:${config.port}`,
              'Set PUBLIC_URL to the URL at which clients reach the service.',
            ),
        }
      : fromOutside('public_url', answers),
    fromOutside('web_sockets', upgrades),
    fromOutside('proxy', (url, signal) => proxies(url, config.proxyHops, signal)),
  ];
}

interface LocalService {
  outcome: Outcome;
  /** Undefined if that cannot be known. */
  isRunning: boolean | undefined;
}

const LOCAL_TIMEOUT_MS = 3_000;

/** The service on this host, without the proxy. */
async function askService({ host, port }: CheckedSettings['config']): Promise<LocalService> {
  if (port === 0) return { outcome: skipped('PORT is 0: the port is not known'), isRunning: undefined };
  const address =
    { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host);
  const url = `http://${address}:${port}`;
  const answer = await askHttp(url + READY_PATH, { signal: AbortSignal.timeout(LOCAL_TIMEOUT_MS) }).catch(
    () => ({
      error: `no answer in ${LOCAL_TIMEOUT_MS / 1000} s`,
    }),
  );
  if ('error' in answer && answer.error === 'ECONNREFUSED')
    return { outcome: skipped(`does not run: nothing listens at ${url}`), isRunning: false };
  if ('error' in answer) {
    const advice = 'Check HOST and PORT, and the log of the service.';
    return { outcome: problem(`${url} does not answer: ${answer.error}`, advice), isRunning: undefined };
  }
  const ready = readySchema.safeParse(jsonOf(answer.text));
  if (!ready.success)
    return {
      outcome: problem(`another program answers at ${url}`, 'Stop that program, or set another PORT.'),
      isRunning: false,
    };
  return { outcome: readiness(url, ready.data), isRunning: true };
}

function readiness(url: string, { status, checks }: z.infer<typeof readySchema>): Outcome {
  if (status === 'pass') return ok(`runs at ${url}, and is ready`);
  const troubles = Object.entries(checks).flatMap(([name, { status: state, output = state }]) =>
    state === 'pass' ? [] : [`${name}: ${output}`],
  );
  const seen = `runs at ${url}, but reports ${troubles.join(', ')}`;
  const advice = 'See the other findings, and the log of the service.';
  return status === 'fail' ? problem(seen, advice) : warning(seen, advice);
}

async function answers(base: string, signal: AbortSignal): Promise<Outcome> {
  const { host, protocol, hostname } = new URL(base);
  const answer = await askHttp(base + LIVE_PATH, { signal });
  if ('error' in answer)
    return problem(`${base} does not answer: ${answer.error}`, failureAdvice(answer.error, host));
  if (answer.status !== 200 || !liveSchema.safeParse(jsonOf(answer.text)).success)
    return problem(
      `${base} answers ${answer.status}, but not as the service does`,
      answer.status >= 500
        ? 'The proxy does not reach the service. Check its upstream: it must be HOST and PORT of the service.'
        : 'Check that PUBLIC_URL is the URL of the service, and that the proxy passes every path.',
    );
  const seen = `${base} answers`;
  if (protocol === 'https:' || isLoopback(hostname)) return ok(seen);
  return problem(
    `${seen}, without TLS`,
    'Tokens and messages travel in clear text. Put a proxy with TLS in front, and set PUBLIC_URL to its https:// URL.',
  );
}

/** An upgrade without a proof: the service refuses it, and a proxy that does not pass upgrades answers otherwise. */
async function upgrades(base: string, signal: AbortSignal): Promise<Outcome> {
  const answer = await askUpgrade(base.replace(/^http/, 'ws') + LINK_PATH, signal);
  if ('error' in answer) {
    const { host } = new URL(base);
    return problem(`no answer to a WebSocket: ${answer.error}`, failureAdvice(answer.error, host));
  }
  const refusal = refusalSchema.safeParse(jsonOf(answer.text));
  if (answer.status === 401 && refusal.success && refusal.data.error === 'unauthorized')
    return ok('a WebSocket upgrade arrives at the service, which refused it as it must without a proof');
  return problem(
    `a WebSocket upgrade was answered with ${answer.status}`,
    'Make the proxy pass WebSockets: HTTP/1.1 to the service, with the headers Upgrade and Connection.',
  );
}

function askUpgrade(
  url: string,
  signal: AbortSignal,
): Promise<{ status: number; text: string } | { error: string }> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, { followRedirects: false });
    signal.addEventListener('abort', () => socket.terminate(), { once: true });
    socket.on('error', (error) => resolve({ error: codeOf(error) }));
    socket.on('open', () => {
      socket.terminate();
      resolve({ status: 101, text: '' });
    });
    socket.on('unexpected-response', (request, response) => {
      let text = '';
      response.on('data', (chunk) => {
        if (text.length < 4_096) text += String(chunk);
      });
      const end = (): void => {
        resolve({ status: response.statusCode ?? 0, text });
        request.destroy();
      };
      response.on('end', end).on('error', end);
    });
  });
}

/** The service itself reports which address it sees: a proxy must name it, and a client must not. */
async function proxies(base: string, hops: number, signal: AbortSignal): Promise<Outcome> {
  const plain = await askClient(base, {}, signal);
  const forged = await askClient(base, { 'X-Forwarded-For': FORGED }, signal);
  if (plain === undefined || forged === undefined)
    return skipped('the service did not report which address it sees');
  const set = `PROXY_HOPS is ${hops}, and ${plain.forwarded} ${plain.forwarded === 1 ? 'proxy names' : 'proxies name'} the client in X-Forwarded-For`;
  if (plain.forwarded > hops)
    return problem(
      set,
      `All clients count as one address. Set PROXY_HOPS to ${plain.forwarded}, if these proxies are yours.`,
    );
  if (plain.forwarded < hops && plain.forwarded === 0)
    return problem(
      set,
      'All clients count as one address. Make the proxy set X-Forwarded-For. Without a proxy, set PROXY_HOPS to 0.',
    );
  if (plain.forwarded < hops || forged.address === FORGED)
    return problem(
      `${set}; a client can choose the address that it counts as`,
      plain.forwarded < hops
        ? `Set PROXY_HOPS to ${plain.forwarded}, the number of your proxies that set X-Forwarded-For.`
        : 'Make the proxy set X-Forwarded-For, in place of what a client sends.',
    );
  if (hops === 0 && base.startsWith('https:'))
    return problem(
      'a proxy ends TLS, but sends no X-Forwarded-For: all clients count as one address',
      'Make the proxy set X-Forwarded-For, and set PROXY_HOPS to the number of proxies.',
    );
  return ok(`${set}; the service sees this host as ${plain.address}, and a forged address does not count`);
}

async function askClient(
  base: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<z.infer<typeof clientSchema> | undefined> {
  const answer = await askHttp(base + CLIENT_PATH, { headers, signal });
  return 'error' in answer ? undefined : clientSchema.safeParse(jsonOf(answer.text)).data;
}
