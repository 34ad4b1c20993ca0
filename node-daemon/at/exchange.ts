// The state of the command in flight, from its write to its final result code. Pure.
//
//   awaitingPrompt ──prompt──► awaitingFinal ──final──► done
//        │  (only with a body)      │  ▲
//        └──error, time-out──► done │  └─ information responses; a hex line after one may be its body
import type { AtCommand } from './command.ts';
import { type FinalResult, parseCallResult, parseFinalResult } from './result-code.ts';

/** An information response, with its second line if the command has one (+CMGR, +CMGL). */
export interface Information {
  readonly line: string;
  readonly body?: string;
}

/** Twice a full storage of 255 messages. A modem that sends more is broken. */
export const INFORMATION_MAX = 512;

interface AwaitingPrompt {
  readonly kind: 'awaitingPrompt';
  readonly command: AtCommand;
}

interface AwaitingFinal {
  readonly kind: 'awaitingFinal';
  readonly command: AtCommand;
  /** Information responses so far. */
  readonly information: readonly Information[];
  /** Whether the next line of hexadecimal digits is the body of the last information response. */
  readonly bodyNext: boolean;
  readonly bodyGiven: boolean;
  /** Whether an OK came before the required answer. It belongs to another command, or there is no answer. */
  readonly okSeen: boolean;
}

/** The exchange is over. */
export interface ExchangeDone {
  readonly kind: 'done';
  readonly result: ExchangeResult;
  readonly bodyGiven: boolean;
}

/** The state of the command in flight. */
export type ExchangeState = AwaitingPrompt | AwaitingFinal | ExchangeDone;

/** The result of an exchange. */
export type ExchangeResult =
  | {
      readonly kind: 'final';
      readonly final: FinalResult;
      readonly information: readonly Information[];
      /** More of this answer may follow, so the channel must resynchronize before the next command. */
      readonly doubtful: boolean;
    }
  | { readonly kind: 'timeout'; readonly phase: 'prompt' | 'final' }
  /** The modem was waiting for the body of an older command and read this command as that body. */
  | { readonly kind: 'swallowed' };

/** The inputs of a command in flight. */
export type ExchangeInput =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'prompt' }
  | { readonly kind: 'timeout' }
  /** The port is gone, so no input follows. */
  | { readonly kind: 'closed' };

/** The effect of one input. */
export interface ExchangeStep {
  readonly state: ExchangeState;
  /** To write now: the command's body, or ESC to leave a prompt that no command asked for. */
  readonly write?: 'body' | 'escape';
  /** Whether the answer must come soon, because it otherwise never comes. */
  readonly hurry?: true;
  /** The line, if it does not belong to this exchange. */
  readonly urc?: string;
}

const HEXADECIMAL = /^[0-9A-Fa-f]+$/;

/** Returns the state right after the command line was written. */
export function beginExchange(command: AtCommand): ExchangeState {
  if (command.body !== undefined) return { kind: 'awaitingPrompt', command };
  return awaitingFinal(command, false);
}

/** Returns the effect of an input in this state. In `done`, all lines are URCs. */
export function stepExchange(state: ExchangeState, input: ExchangeInput): ExchangeStep {
  switch (input.kind) {
    case 'prompt':
      return onPrompt(state);
    case 'timeout':
      return { state: onTimeout(state) };
    case 'closed':
      return { state: onTimeout(state.kind === 'awaitingFinal' ? { ...state, okSeen: false } : state) };
    case 'line':
      return onLine(state, input.text);
  }
}

/** Returns whether the command in flight waits for such a line. */
export function awaitsLine(state: ExchangeState, text: string): boolean {
  if (state.kind !== 'awaitingFinal') return false;
  return (state.bodyNext && HEXADECIMAL.test(text)) || state.command.answer?.test(text) === true;
}

function awaitingFinal(command: AtCommand, bodyGiven: boolean): AwaitingFinal {
  return { kind: 'awaitingFinal', command, information: [], bodyNext: false, bodyGiven, okSeen: false };
}

function onPrompt(state: ExchangeState): ExchangeStep {
  if (state.kind === 'done') return { state, write: 'escape' };
  if (state.kind === 'awaitingPrompt') return { state: awaitingFinal(state.command, true), write: 'body' };
  // The echo of the body may look like a prompt.
  if (state.bodyGiven) return { state };
  return { state: { kind: 'done', result: { kind: 'swallowed' }, bodyGiven: false }, write: 'escape' };
}

function onTimeout(state: ExchangeState): ExchangeState {
  if (state.kind === 'done') return state;
  if (state.kind === 'awaitingPrompt') {
    return { kind: 'done', result: { kind: 'timeout', phase: 'prompt' }, bodyGiven: false };
  }
  if (state.okSeen) return endedBy(state, { kind: 'ok' }, true);
  return { kind: 'done', result: { kind: 'timeout', phase: 'final' }, bodyGiven: state.bodyGiven };
}

function onLine(state: ExchangeState, text: string): ExchangeStep {
  if (state.kind === 'done') return { state, urc: text };
  if (isEcho(state, text)) return { state };
  const final =
    parseFinalResult(text) ?? (state.command.endsLikeCall === true ? parseCallResult(text) : undefined);
  if (final !== undefined) return onFinal(state, final);
  if (state.kind !== 'awaitingFinal') return { state, urc: text };
  if (state.bodyNext && HEXADECIMAL.test(text)) return { state: withBody(state, text) };
  if (state.command.answer?.test(text)) return onAnswer(state, text);
  return { state, urc: text };
}

function withBody(state: AwaitingFinal, body: string): AwaitingFinal {
  const line = state.information.at(-1)?.line ?? '';
  return { ...state, information: [...state.information.slice(0, -1), { line, body }], bodyNext: false };
}

function onAnswer(state: AwaitingFinal, line: string): ExchangeStep {
  const { command, information } = state;
  const bodyNext = command.bodyAfter?.test(line) ?? false;
  const [earlier] = information;
  if (command.answerSingle === true && earlier !== undefined) {
    return { state: { ...state, information: [{ line }], bodyNext }, urc: earlier.line };
  }
  if (information.length >= INFORMATION_MAX) return { state };
  return { state: { ...state, information: [...information, { line }], bodyNext } };
}

/** V.250 §6.2.4: with ATE1, the default after a reset, the modem repeats command line and body. */
function isEcho(state: AwaitingPrompt | AwaitingFinal, text: string): boolean {
  const printed = stripControls(text);
  if (printed === state.command.text) return true;
  return state.kind === 'awaitingFinal' && state.bodyGiven && printed === state.command.body;
}

function stripControls(text: string): string {
  return text.replace(/[^ -\uffff]/g, '');
}

function onFinal(state: AwaitingPrompt | AwaitingFinal, final: FinalResult): ExchangeStep {
  if (state.kind === 'awaitingPrompt') {
    // An OK that cannot belong to this command is the late answer to an earlier one.
    if (final.kind === 'ok') return { state };
    return { state: endedBy(awaitingFinal(state.command, false), final) };
  }
  if (final.kind === 'ok' && state.command.answerRequired === true && state.information.length === 0) {
    // Without its reference it is unknown whether the message was sent, so wait for the full time.
    if (state.command.body !== undefined || state.okSeen) return { state };
    return { state: { ...state, okSeen: true }, hurry: true };
  }
  if (
    (final.kind === 'error' || final.kind === 'cme' || final.kind === 'cms') &&
    final.trailing !== undefined
  ) {
    return { state: endedWithTrailing(state, final, final.trailing) };
  }
  return { state: endedBy(state, final) };
}

/** Whether an OK follows differs by firmware. */
function endedWithTrailing(state: AwaitingFinal, final: FinalResult, trailing: string): ExchangeDone {
  const { answer, answerMayTrail } = state.command;
  if (answerMayTrail !== true || !answer?.test(trailing)) return endedBy(state, final, true);
  const information = [...state.information, { line: trailing }];
  return endedBy({ ...state, information }, { kind: 'ok' }, true);
}

function endedBy(state: AwaitingFinal, final: FinalResult, doubtful = false): ExchangeDone {
  const { bodyGiven, information } = state;
  return { kind: 'done', result: { kind: 'final', final, information, doubtful }, bodyGiven };
}
