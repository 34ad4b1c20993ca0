// How a probe ends without a delivery, in words for operators.
import { CommandRefusal } from '#shared/link/command-refusal.ts';
import { NodeUnavailable } from '../nodes/node-link.ts';
import type { ProbeOutcome } from '../store/operations/probes.ts';

type Failed = Extract<ProbeOutcome, { result: 'failed' }>;
type Abandoned = Extract<ProbeOutcome, { result: 'abandoned' }>;

export const failed = (why: string, failedEnd: Failed['failedEnd'] = 'either'): Failed => ({
  result: 'failed',
  failedEnd,
  why,
});

export const abandoned = (why: string): Abandoned => ({ result: 'abandoned', why });

/** `error`: of the command that begins the probe. Throws errors of other kinds. */
export function notTried(error: unknown): Abandoned {
  if (error instanceof CommandRefusal) return abandoned(`not tried: ${error.message}`);
  if (error instanceof NodeUnavailable) return abandoned(`the node did not answer: ${error.message}`);
  throw error;
}
