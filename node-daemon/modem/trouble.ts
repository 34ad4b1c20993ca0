// Why the session with a modem ended: what the recovery has to choose its step by.

/**
 * `port_gone`: the device or its port went away. `silent`: the modem does not answer. `restarted`: it
 * came up anew or lost its settings. `sim_changed`: the SIM went, or is another one. `no_service`: the
 * SIM is open and no network serves it for too long. `faulty`: the set-up keeps failing.
 * `requested`: an operator wants it to restart.
 */
export type Trouble =
  | ('port_gone' | 'silent' | 'restarted' | 'sim_changed' | 'no_service' | 'faulty')
  | 'requested';

/** The session is over: the modem has to be opened and set up anew. */
export class SessionEndedError extends Error {
  override name = 'SessionEndedError';
  readonly trouble: Trouble;

  constructor(trouble: Trouble, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.trouble = trouble;
  }
}
