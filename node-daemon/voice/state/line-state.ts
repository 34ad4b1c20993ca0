// The call of one line as a pure function of its earlier state and the modem's lines. A line has one call at most.
import type { CallDirection, LiveCallState } from '#shared/voice/call.ts';
import type { CallEvent, ListedCall } from './call-event.ts';

export interface LineCall {
  readonly direction: CallDirection;
  readonly state: LiveCallState;
  /** Undefined while the modem has not sent it; null where it is withheld. */
  readonly peer: string | null | undefined;
}

export type Step =
  | { readonly call: LineCall | undefined }
  /** The call has ended. `cause`: where the modem sent it with that. */
  | { readonly ended: true; readonly cause: number | undefined };

/** An incoming call that the modem just began to report. */
const RINGING: LineCall = { direction: 'inbound', state: 'ringing', peer: undefined };

/** The call after an event of the modem. Events about other calls change nothing. */
export function nextCall(call: LineCall | undefined, event: CallEvent): Step {
  switch (event.kind) {
    case 'rings':
      return { call: call ?? RINGING };
    case 'caller':
      return { call: isUnknownCaller(call) ? { ...(call ?? RINGING), peer: event.number } : call };
    case 'listed':
      return { call: listed(call, event.call) };
    case 'alerting':
      return { call: call?.state === 'dialing' ? { ...call, state: 'ringing' } : call };
    case 'answered':
      return { call: call && withState(call, 'active', null) };
    case 'released':
      return call === undefined ? { call } : { ended: true, cause: event.cause };
    case 'digit':
    case 'audioFlow':
      return { call };
  }
}

/** The call after a reading of the whole list. A call that is missing from it has ended, even if the line about its end was lost. */
export function nextCallOfList(call: LineCall | undefined, list: readonly ListedCall[]): Step {
  const ours = list.find((listed) => call === undefined || isOurs(call, listed));
  if (ours !== undefined) return { call: listed(call, ours) };
  return call === undefined ? { call } : { ended: true, cause: undefined };
}

/** Not a second caller, who waits, or rings because ours has ended. */
const isOurs = (call: LineCall, { direction, state }: ListedCall): boolean =>
  direction === call.direction && state !== 'waiting' && !(state === 'incoming' && call.state === 'active');

function listed(call: LineCall | undefined, { direction, state, number }: ListedCall): LineCall | undefined {
  // A late line about a call that has ended must not bring it back: only an incoming call begins so.
  if (call === undefined) return state === 'incoming' ? { ...RINGING, peer: number ?? undefined } : undefined;
  // A second call while one is up: the network knows that there is no call waiting, and it will ring out.
  if (direction !== call.direction) return call;
  switch (state) {
    case 'active':
    case 'held':
      return withState(call, 'active', number);
    case 'alerting':
    case 'incoming':
      return call.state === 'active' ? call : withState(call, 'ringing', number);
    case 'dialing':
    case 'waiting':
      return call;
  }
}

/** A list without the number does not say that it is withheld: some have none, or not yet. */
function withState(call: LineCall, state: LiveCallState, number: string | null): LineCall {
  const peer = call.peer ?? number ?? call.peer;
  return state === call.state && peer === call.peer ? call : { ...call, state, peer };
}

const isUnknownCaller = (call: LineCall | undefined): boolean =>
  call === undefined || (call.direction === 'inbound' && call.peer === undefined);
