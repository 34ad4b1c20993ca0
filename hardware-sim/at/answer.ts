// The answer to one command, and the error codes.

export type Answer =
  /** Information lines, then OK (after the last command of the line). */
  | { kind: 'ok'; lines: readonly string[] }
  | { kind: 'error' }
  /** 3GPP TS 27.007 §9.2; shown by +CMEE. */
  | { kind: 'cme'; code: number }
  /** 3GPP TS 27.005 §3.2.5. */
  | { kind: 'cms'; code: number }
  /** A call result code such as NO CARRIER. */
  | { kind: 'result'; code: string }
  /** Asks for a message body; `complete` gets everything before the Ctrl-Z. */
  | Prompt
  /** The result is lost: the port sends nothing and accepts the next command. */
  | { kind: 'nothing' };

/** The "> " of commands that take a message. */
export interface Prompt {
  kind: 'prompt';
  /** False for a lost prompt: the modem waits for a body but does not send "> ". */
  isShown: boolean;
  /** Text mode repeats the prompt after each carriage return (3GPP TS 27.005 §3.5.1). */
  repeatsPrompt: boolean;
  complete: (body: string) => Answer | Promise<Answer>;
  /** A refusal that the modem sends while the client is still writing the body. */
  failure?: { afterCharacters: number; answer: Answer };
}

/** Success, with information lines in front of the OK. */
export function ok(...lines: string[]): Answer {
  return { kind: 'ok', lines };
}

/** +CME ERROR, or ERROR, as +CMEE says. */
export function cme(code: number): Answer {
  return { kind: 'cme', code };
}

/** +CMS ERROR. */
export function cms(code: number): Answer {
  return { kind: 'cms', code };
}

/** Thrown by a behaviour deep in its work; the modem gives the answer it carries. */
export class CommandRefused extends Error {
  override name = 'CommandRefused';
  readonly answer: Answer;

  constructor(answer: Answer) {
    super('command refused');
    this.answer = answer;
  }
}

/** Codes of +CME ERROR (3GPP TS 27.007 §9.2). */
export const CME = {
  operationNotAllowed: 3,
  operationNotSupported: 4,
  incorrectPassword: 16,
  simNotInserted: 10,
  simPinRequired: 11,
  simPukRequired: 12,
  simFailure: 13,
  simBusy: 14,
  invalidIndex: 21,
  noNetworkService: 30,
  incorrectParameters: 50,
} as const;

/** Codes of +CMS ERROR (3GPP TS 27.005 §3.2.5). The carrier adds causes of 3GPP TS 24.011 annex E, below 128. */
export const CMS = {
  operationNotAllowed: 302,
  invalidPduParameter: 304,
  invalidTextParameter: 305,
  simNotInserted: 310,
  simPinRequired: 311,
  simFailure: 313,
  simBusy: 314,
  simPukRequired: 316,
  memoryFailure: 320,
  invalidMemoryIndex: 321,
  memoryFull: 322,
  noNetworkService: 331,
  noAcknowledgementExpected: 340,
  unknownError: 500,
} as const;

const CME_TEXTS: Readonly<Record<number, string>> = {
  [CME.operationNotAllowed]: 'operation not allowed',
  [CME.operationNotSupported]: 'operation not supported',
  [CME.simNotInserted]: 'SIM not inserted',
  [CME.simPinRequired]: 'SIM PIN required',
  [CME.simPukRequired]: 'SIM PUK required',
  [CME.simFailure]: 'SIM failure',
  [CME.simBusy]: 'SIM busy',
  [CME.incorrectPassword]: 'incorrect password',
  [CME.invalidIndex]: 'invalid index',
  [CME.noNetworkService]: 'no network service',
  [CME.incorrectParameters]: 'incorrect parameters',
};

const CMS_TEXTS: Readonly<Record<number, string>> = {
  [CMS.operationNotAllowed]: 'operation not allowed',
  [CMS.invalidPduParameter]: 'invalid PDU mode parameter',
  [CMS.invalidTextParameter]: 'invalid text mode parameter',
  [CMS.simNotInserted]: '(U)SIM not inserted',
  [CMS.simPinRequired]: '(U)SIM PIN required',
  [CMS.simFailure]: '(U)SIM failure',
  [CMS.simBusy]: '(U)SIM busy',
  [CMS.simPukRequired]: '(U)SIM PUK required',
  [CMS.memoryFailure]: 'memory failure',
  [CMS.invalidMemoryIndex]: 'invalid memory index',
  [CMS.memoryFull]: 'memory full',
  [CMS.noNetworkService]: 'no network service',
  [CMS.noAcknowledgementExpected]: 'no +CNMA acknowledgement expected',
  [CMS.unknownError]: 'unknown error',
};

/** The line of an error. `cmee` is 0 (plain), 1 (number) or 2 (text); +CMS errors have no plain form. */
export function errorLine(answer: { kind: 'cme' | 'cms'; code: number }, cmee: number): string {
  if (answer.kind === 'cme' && cmee === 0) return 'ERROR';
  const texts = answer.kind === 'cme' ? CME_TEXTS : CMS_TEXTS;
  const shown = cmee === 2 ? (texts[answer.code] ?? 'unknown error') : String(answer.code);
  return `+${answer.kind.toUpperCase()} ERROR: ${shown}`;
}
