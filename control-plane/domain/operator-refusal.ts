// The two ways in which an operator's command ends without success.
import { OperatorError } from '#shared/operator/operator-error.ts';

/** The present state does not allow it. Nothing was changed; the message says why, one problem a line. */
export class OperatorRefusal extends OperatorError {
  override name = 'OperatorRefusal';

  constructor(message: string, options?: ErrorOptions) {
    super('unavailable', message, options?.cause);
  }
}

/** Begun, and not finished. The same command may be repeated; the message says what is missing. */
export class OperatorUnfinished extends OperatorError {
  override name = 'OperatorUnfinished';

  constructor(message: string, options?: ErrorOptions) {
    super('unanswered', message, options?.cause);
  }
}
