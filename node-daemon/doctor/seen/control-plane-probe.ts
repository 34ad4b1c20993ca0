// Whether the control plane can be reached from this host, and how far its clock is from ours.
import type { Clock } from '#shared/clock.ts';

const HEALTH_PATH = '/health/live';
const ANSWER_TIMEOUT_MS = 5_000;

/** `error` is a code of the system or of TLS, such as "ENOTFOUND"; `timeout` when nothing came. */
export type ControlPlaneAnswer = { readonly url: string } & (
  | {
      readonly status: number;
      /** Theirs minus ours, ms; `undefined` without a Date header. */
      readonly clockDifferenceMs: number | undefined;
    }
  | { readonly error: string }
);

/** Asks once. Never rejects. */
export async function probeControlPlane(url: string, clock: Clock): Promise<ControlPlaneAnswer> {
  try {
    const began = clock.now();
    const response = await fetch(`${url}${HEALTH_PATH}`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    await response.body?.cancel();
    const theirs = Date.parse(response.headers.get('date') ?? '');
    // It was written about half way between.
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

/** The cause behind fetch's "fetch failed". */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'timeout';
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  const { code } = cause as NodeJS.ErrnoException;
  return code ?? cause.message;
}
