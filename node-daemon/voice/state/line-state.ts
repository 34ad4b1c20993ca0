// The state of one line's call, computed from the earlier state and the modem's lines. A line has at most one call. Pure.
import type { CallDirection, LiveCallState } from '#shared/voice/call.ts';
import type { CallEvent, ListedCall } from '../../profiles/call-event.ts';

export interface LineCall {
  readonly direction: CallDirection;
  readonly state: LiveCallState;
  /** Undefined until the modem has sent it; null if it is withheld. */
  readonly peer: string | null | undefined;
}

export type Step =
  | { readonly call: LineCall | undefined }
  /** The call has ended. `cause`: set if the modem sent it. */
  | { readonly ended: true; readonly cause: number | undefined };

/** An incoming call at its first report. */
const RINGING: LineCall = { direction: 'inbound', state: 'ringing', peer: undefined };

/** Returns the call after an event of the modem. Events of other calls change nothing. */
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

/** Returns the call after a reading of the whole list. A call that is not in the list has ended, even without a line about its end. */
export function nextCallOfList(call: LineCall | undefined, list: readonly ListedCall[]): Step {
  const ours = list.find((listed) => call === undefined || isOurs(call, listed));
  if (ours !== undefined) return { call: listed(call, ours) };
  return call === undefined ? { call } : { ended: true, cause: undefined };
}

/** Returns false for a second caller, who waits, or rings because our call has ended. */
function isOurs(call: LineCall, { direction, number, state }: ListedCall): boolean {
  if (direction !== call.direction || state === 'waiting') return false;
  const isAnother = call.state === 'active' || (direction === 'inbound' && isOtherNumber(call.peer, number));
  return !(state === 'incoming' && isAnother);
}

/** Whether the listed call is of a caller who waits, or began to ring while this call ended. */
export const isNextCaller = (call: LineCall, listed: ListedCall): boolean =>
  (listed.state === 'incoming' || listed.state === 'waiting') && !isOurs(call, listed);

/** A modem may send one number in two forms: +12065550100, 2065550100. */
function isOtherNumber(one: string | null | undefined, other: string | null): boolean {
  const [last, otherLast] = [one, other].map((number) => number?.replace(/\D/g, '').slice(-7) ?? '');
  return last !== '' && otherLast !== '' && last !== otherLast;
}

function listed(call: LineCall | undefined, { direction, state, number }: ListedCall): LineCall | undefined {
  // A late line about an ended call must not create it again. Only an incoming call begins this way.
  if (call === undefined) return state === 'incoming' ? { ...RINGING, peer: number ?? undefined } : undefined;
  // A second call: call waiting is off in the network, so it rings out.
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

/** A list without the number does not mean that it is withheld. Some lists never have it, or not yet. */
function withState(call: LineCall, state: LiveCallState, number: string | null): LineCall {
  const peer = call.peer ?? number ?? call.peer;
  return state === call.state && peer === call.peer ? call : { ...call, state, peer };
}

const isUnknownCaller = (call: LineCall | undefined): boolean =>
  call === undefined || (call.direction === 'inbound' && call.peer === undefined);
