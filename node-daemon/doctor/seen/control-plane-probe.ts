// Checks whether this host can reach the control plane, and how far their clocks differ.
import type { Clock } from '#shared/clock.ts';

const HEALTH_PATH = '/health/live';
const ANSWER_TIMEOUT_MS = 5_000;

/** `error` is a code of the system or of TLS, such as "ENOTFOUND", or `timeout`. */
export type ControlPlaneAnswer = { readonly url: string } & (
  | {
      readonly status: number;
      /** The control plane's time minus this host's, in ms; `undefined` without a Date header. */
      readonly clockDifferenceMs: number | undefined;
    }
  | { readonly error: string }
);

/** Sends one request. Never rejects. */
export async function probeControlPlane(url: string, clock: Clock): Promise<ControlPlaneAnswer> {
  try {
    const began = clock.now();
    const response = await fetch(`${url}${HEALTH_PATH}`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    await response.body?.cancel();
    const theirs = Date.parse(response.headers.get('date') ?? '');
    // The server wrote the header about halfway between request and answer.
    const ours = (began + clock.now()) / 2;
    return {
      url,
      status: response.status,
      clockDifferenceMs: Number.isNaN(theirs) ? undefined : theirs - ours,
    };
  } catch (error) {
    return { url, error: codeOf(error) };
  }
}

/** Returns the cause of fetch's "fetch failed". */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'timeout';
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  const { code } = cause as NodeJS.ErrnoException;
  return code ?? cause.message;
}
