// How an operator's command ends when it does not do what it was asked for.

/** The state of things does not allow it. Nothing was changed; the message says why, one problem a line. */
export class OperatorRefusal extends Error {
  override name = 'OperatorRefusal';
  readonly exitCode = 2;
}

/** Begun, and safe to be asked for again: the message says what is missing. */
export class OperatorUnfinished extends Error {
  override name = 'OperatorUnfinished';
  readonly exitCode = 3;
}
