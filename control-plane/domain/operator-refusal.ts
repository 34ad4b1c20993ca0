// The two errors that end an operator's command.
import { OperatorError } from '#shared/operator/operator-error.ts';

/** The present state does not allow the command. Nothing was changed. The message says why, one problem per line. */
export class OperatorRefusal extends OperatorError {
  override name = 'OperatorRefusal';

  constructor(message: string, options?: ErrorOptions) {
    super('unavailable', message, options?.cause);
  }
}

/** The command was begun but not finished. It may be repeated. The message says what is missing. */
export class OperatorUnfinished extends OperatorError {
  override name = 'OperatorUnfinished';

  constructor(message: string, options?: ErrorOptions) {
    super('unanswered', message, options?.cause);
  }
}
