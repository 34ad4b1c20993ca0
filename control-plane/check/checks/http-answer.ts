// One HTTP request of a check, and what to do when it fails.
import { startOfBody } from '#shared/response-body.ts';

type HttpAnswer =
  | {
      readonly status: number;
      readonly headers: Headers;
      readonly text: string;
      /** The server's time minus this host's, in ms; `undefined` without a Date header. Dates have whole seconds. */
      readonly clockDifferenceMs: number | undefined;
    }
  /** A code of the system or of TLS, such as "ENOTFOUND". */
  | { readonly error: string };

/** A body without an end must not fill the memory. */
const TEXT_BYTES_MAX = 64 * 1024;

/** Does not follow redirects. Rejects only when it is aborted. */
export async function askHttp(
  url: string,
  { signal, ...init }: RequestInit & { signal: AbortSignal },
): Promise<HttpAnswer> {
  try {
    const began = Date.now();
    const response = await fetch(url, { redirect: 'manual', ...init, signal });
    // The server wrote the header about halfway between request and answer.
    const ours = (began + Date.now()) / 2;
    const theirs = Date.parse(response.headers.get('date') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      text: (await startOfBody(response, TEXT_BYTES_MAX)).text,
      clockDifferenceMs: Number.isNaN(theirs) ? undefined : theirs + 500 - ours,
    };
  } catch (error) {
    if (signal.aborted) throw error;
    return { error: codeOf(error) };
  }
}

/** The cause of fetch's "fetch failed". */
export function codeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(error);
  // Both addresses of a name may fail.
  const [first = cause] = cause instanceof AggregateError ? (cause.errors as Error[]) : [];
  return (first as NodeJS.ErrnoException).code ?? first.message;
}

const TLS_ERROR = /^(CERT_|ERR_TLS|ERR_SSL|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|EPROTO)/;

/** `code`: of `askHttp`. */
export function failureAdvice(code: string, host: string): string {
  if (/^(ENOTFOUND|EAI_)/.test(code))
    return `The name was not found. Check the option and the DNS: getent hosts ${host.replace(/:\d+$/, '')}`;
  if (TLS_ERROR.test(code))
    return 'The certificate is not trusted, has expired or is for another name. Renew it, or correct the name in the option.';
  if (code === 'ECONNREFUSED') return 'Nothing listens on that port. Start the server, or correct the port.';
  return 'Check the network of this host, and the firewalls in between.';
}
