// The one command in flight: from its write to its final result code. Pure.
//
//   awaitingPrompt ──prompt──► awaitingFinal ──final──► done
//        │  (only with a body)      │  ▲
//        └──error, time-out──► done │  └─ information responses; a hex line after one may be its body
import type { AtCommand } from './command.ts';
import { type FinalResult, parseFinalResult } from './result-code.ts';

/** An information response, with the line that belongs to it where the command has such (+CMGR, +CMGL). */
export interface Information {
  readonly line: string;
  readonly body?: string;
}

/** Where the command in flight is. */
export type ExchangeState =
  | { readonly kind: 'awaitingPrompt'; readonly command: AtCommand }
  | {
      readonly kind: 'awaitingFinal';
      readonly command: AtCommand;
      /** Information responses so far. */
      readonly information: readonly Information[];
      /** The next line of hexadecimal digits is the body of the last information response. */
      readonly bodyNext: boolean;
      readonly bodyGiven: boolean;
    }
  | { readonly kind: 'done'; readonly result: ExchangeResult; readonly bodyGiven: boolean };

/** How an exchange ended. */
export type ExchangeResult =
  | { readonly kind: 'final'; readonly final: FinalResult; readonly information: readonly Information[] }
  | { readonly kind: 'timeout'; readonly phase: 'prompt' | 'final' };

/** What can happen to a command in flight. */
export type ExchangeInput =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'prompt' }
  | { readonly kind: 'timeout' };

/** What one input led to. */
export interface ExchangeStep {
  readonly state: ExchangeState;
  /** What to write now: the command's body, or ESC to leave a prompt that nobody asked for. */
  readonly write?: 'body' | 'escape';
  /** The line was no part of this exchange. */
  readonly urc?: string;
}

const HEXADECIMAL = /^[0-9A-Fa-f]+$/;

/** The state right after the command line was written. */
export function beginExchange(command: AtCommand): ExchangeState {
  if (command.body !== undefined) return { kind: 'awaitingPrompt', command };
  return { kind: 'awaitingFinal', command, information: [], bodyNext: false, bodyGiven: false };
}

/** One step: what the input means in this state. `done` takes nothing in: all lines are URCs there. */
export function stepExchange(state: ExchangeState, input: ExchangeInput): ExchangeStep {
  switch (input.kind) {
    case 'prompt':
      return onPrompt(state);
    case 'timeout':
      return { state: onTimeout(state) };
    case 'line':
      return onLine(state, input.text);
  }
}

function onPrompt(state: ExchangeState): ExchangeStep {
  if (state.kind !== 'awaitingPrompt') {
    // With its body given the echo of the body may look like one; any other prompt would swallow commands.
    const expected = state.kind === 'awaitingFinal' && state.bodyGiven;
    return expected ? { state } : { state, write: 'escape' };
  }
  const { command } = state;
  return {
    state: { kind: 'awaitingFinal', command, information: [], bodyNext: false, bodyGiven: true },
    write: 'body',
  };
}

function onTimeout(state: ExchangeState): ExchangeState {
  if (state.kind === 'done') return state;
  const phase = state.kind === 'awaitingPrompt' ? 'prompt' : 'final';
  const bodyGiven = state.kind === 'awaitingFinal' && state.bodyGiven;
  return { kind: 'done', result: { kind: 'timeout', phase }, bodyGiven };
}

function onLine(state: ExchangeState, text: string): ExchangeStep {
  if (state.kind === 'done') return { state, urc: text };
  if (isEcho(state, text)) return { state };
  const final = parseFinalResult(text);
  if (final !== undefined) return onFinal(state, final);
  if (state.kind !== 'awaitingFinal') return { state, urc: text };
  const { command, information } = state;
  if (state.bodyNext && HEXADECIMAL.test(text)) {
    const last = { line: information.at(-1)?.line ?? '', body: text };
    return { state: { ...state, information: [...information.slice(0, -1), last], bodyNext: false } };
  }
  if (command.answer?.test(text)) {
    const bodyNext = command.answerHasBody ?? false;
    return { state: { ...state, information: [...information, { line: text }], bodyNext } };
  }
  return { state, urc: text };
}

/** V.250 §6.2.4: with ATE1, the default after a reset, the modem repeats command line and body. */
function isEcho(state: Exclude<ExchangeState, { kind: 'done' }>, text: string): boolean {
  if (text === state.command.text) return true;
  return state.kind === 'awaitingFinal' && state.bodyGiven && stripControls(text) === state.command.body;
}

function stripControls(text: string): string {
  return [...text].filter((char) => char >= ' ').join('');
}

function onFinal(state: Exclude<ExchangeState, { kind: 'done' }>, final: FinalResult): ExchangeStep {
  if (final.kind === 'ok') {
    // An OK that cannot be ours is the late answer of an earlier command.
    if (state.kind === 'awaitingPrompt') return { state };
    if (state.command.answerRequired && state.information.length === 0) return { state };
  }
  const information = state.kind === 'awaitingFinal' ? state.information : [];
  const bodyGiven = state.kind === 'awaitingFinal' && state.bodyGiven;
  return { state: { kind: 'done', result: { kind: 'final', final, information }, bodyGiven } };
}
