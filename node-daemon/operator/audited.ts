// Writes each change that an operator asks for into the log of the daemon, with the fields of the control plane's audit log.
import type { Logger } from '#shared/log.ts';
import { OperatorError, resultOf } from '#shared/operator/operator-error.ts';
import type { Caller } from '#shared/operator/procedure.ts';

interface Change<T> {
  readonly caller: Caller;
  /** The procedure. */
  readonly action: string;
  readonly subject: string;
  /** The values, without secrets; `answer` where it was done. */
  detail(answer?: T): Record<string, unknown>;
}

/** Does the work, and logs how it ended. The message of an error may repeat a PIN, so the log has only its reason. */
export async function audited<T>(
  log: Logger,
  { caller: { name: actor = 'unknown' }, action, subject, detail }: Change<T>,
  work: () => Promise<T>,
): Promise<T> {
  const note = (end: { result: string; why?: string }, answer?: T): void =>
    log.info({ actor, action, subject, ...end, detail: detail(answer) }, 'operator action');
  try {
    const answer = await work();
    note({ result: 'ok' }, answer);
    return answer;
  } catch (error) {
    note({ result: resultOf(error), ...(error instanceof OperatorError ? { why: error.reason } : {}) });
    throw error;
  }
}
