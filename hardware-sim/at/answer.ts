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

/** Thrown by a behavior deep in its work; the modem gives the answer it carries. */
export class CommandRefusal extends Error {
  override name = 'CommandRefusal';
  readonly answer: Answer;

  constructor(answer: Answer) {
    super('command refused');
    this.answer = answer;
  }
}

type ErrorTable = Readonly<Record<string, readonly [code: number, text: string]>>;

const codesOf = <T extends ErrorTable>(table: T): { readonly [K in keyof T]: number } =>
  Object.fromEntries(Object.entries(table).map(([name, [code]]) => [name, code])) as {
    [K in keyof T]: number;
  };

const textsOf = (table: ErrorTable): ReadonlyMap<number, string> => new Map(Object.values(table));

/** 3GPP TS 27.007 §9.2. */
const CME_ERRORS = {
  operationNotAllowed: [3, 'operation not allowed'],
  operationNotSupported: [4, 'operation not supported'],
  simNotInserted: [10, 'SIM not inserted'],
  simPinRequired: [11, 'SIM PIN required'],
  simPukRequired: [12, 'SIM PUK required'],
  simFailure: [13, 'SIM failure'],
  simBusy: [14, 'SIM busy'],
  incorrectPassword: [16, 'incorrect password'],
  invalidIndex: [21, 'invalid index'],
  noNetworkService: [30, 'no network service'],
  incorrectParameters: [50, 'incorrect parameters'],
} as const;

/** 3GPP TS 27.005 §3.2.5. The carrier adds causes of 3GPP TS 24.011 annex E, below 128. */
const CMS_ERRORS = {
  operationNotAllowed: [302, 'operation not allowed'],
  invalidPduParameter: [304, 'invalid PDU mode parameter'],
  invalidTextParameter: [305, 'invalid text mode parameter'],
  simNotInserted: [310, '(U)SIM not inserted'],
  simPinRequired: [311, '(U)SIM PIN required'],
  simFailure: [313, '(U)SIM failure'],
  simBusy: [314, '(U)SIM busy'],
  simPukRequired: [316, '(U)SIM PUK required'],
  memoryFailure: [320, 'memory failure'],
  invalidMemoryIndex: [321, 'invalid memory index'],
  memoryFull: [322, 'memory full'],
  noNetworkService: [331, 'no network service'],
  noAcknowledgementExpected: [340, 'no +CNMA acknowledgement expected'],
  unknownError: [500, 'unknown error'],
} as const;

/** Codes of +CME ERROR. */
export const CME = codesOf(CME_ERRORS);
/** Codes of +CMS ERROR. */
export const CMS = codesOf(CMS_ERRORS);

const TEXTS = { cme: textsOf(CME_ERRORS), cms: textsOf(CMS_ERRORS) };

/** The line of an error. `cmee` is 0 (plain), 1 (number) or 2 (text); +CMS errors have no plain form. */
export function errorResult(answer: { kind: 'cme' | 'cms'; code: number }, cmee: number): string {
  if (answer.kind === 'cme' && cmee === 0) return 'ERROR';
  const shown = cmee === 2 ? (TEXTS[answer.kind].get(answer.code) ?? 'unknown error') : String(answer.code);
  return `+${answer.kind.toUpperCase()} ERROR: ${shown}`;
}
