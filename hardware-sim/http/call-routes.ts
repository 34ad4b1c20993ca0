// The requests about calls: settings of far ends, calling modems, listing and ending calls.
import * as z from 'zod';
import { DTMF_DIGITS } from '../audio/tone.ts';
import type { Call, Side } from '../calls/call.ts';
import type { CallSwitch } from '../calls/call-switch.ts';
import { CAUSE, CAUSE_MAX } from '../calls/cause.ts';
import { farEndSchema, wavSamplesOf } from '../calls/far-end-settings.ts';
import { KEYS_MAX } from '../calls/key-tones.ts';
import { HttpError } from './http-error.ts';
import { checked, type Route, type RouteRequest, readJson } from './route.ts';

const NUMBER = /^\+?[0-9*#]{1,40}$/;
const PRESS_MS_MAX = 10_000;

const ringSchema = z.strictObject({
  from: z.string().regex(NUMBER, 'must be a number, or null').nullable(),
  to: z.string().regex(NUMBER, 'must be a number'),
  /** From the first RING until the caller gives up. */
  ring_ms: z.int().min(1).max(600_000).optional(),
  /** Replaces the settings of the caller's number. */
  far_end: farEndSchema.optional(),
});

const keysSchema = z.strictObject({
  digits: z.string().max(KEYS_MAX).regex(DTMF_DIGITS, 'must be keys of 0-9, *, #, A-D'),
  tone_ms: z.int().min(20).max(PRESS_MS_MAX).default(100),
  gap_ms: z.int().min(0).max(PRESS_MS_MAX).default(100),
});

/** Requests that begin with /calls or /subscribers. */
export function callRoutes(calls: CallSwitch): Route[] {
  const ofCall = (handle: (call: Call, request: RouteRequest) => unknown): Route['handle'] => {
    return (request) => handle(callOf(calls, request.parameter), request);
  };
  return [
    {
      method: 'PUT',
      path: '/subscribers/{number}',
      handle: (request) => putFarEnd(calls, request),
    },
    {
      method: 'GET',
      path: '/subscribers/{number}',
      handle: ({ parameter }) => calls.farEnd(numberOf(parameter)),
    },
    { method: 'GET', path: '/calls', handle: ({ query }) => listed(calls, query) },
    { method: 'POST', path: '/calls', status: 202, handle: (request) => ring(calls, request) },
    { method: 'GET', path: '/calls/{id}', handle: ofCall((call) => call.view()) },
    { method: 'DELETE', path: '/calls/{id}', handle: ofCall(end) },
    { method: 'GET', path: '/calls/{id}/frames', handle: ofCall(frames) },
    { method: 'POST', path: '/calls/{id}/dtmf', handle: ofCall(pressKeys) },
  ];
}

/** Throws `HttpError` when no call has the id. */
export function callOf(calls: CallSwitch, id: string): Call {
  const call = /^\d{1,9}$/.test(id) ? calls.get(Number(id)) : undefined;
  if (call === undefined) throw new HttpError('unknown_call', `no call has the id ${id}`);
  return call;
}

function numberOf(parameter: string): string {
  const number = decodeURIComponent(parameter);
  if (NUMBER.test(number)) return number;
  throw new HttpError('invalid_request', 'the number must be digits, with or without a leading plus sign');
}

async function putFarEnd(calls: CallSwitch, { parameter, incoming }: RouteRequest): Promise<unknown> {
  const number = numberOf(parameter);
  const settings = checked(farEndSchema, await readJson(incoming));
  if (settings.wav !== undefined) wavSamplesOf(settings.wav);
  calls.setFarEnd(number, settings);
  return settings;
}

async function ring(calls: CallSwitch, { incoming }: RouteRequest): Promise<unknown> {
  const { from, to, ring_ms: ringMs, far_end: farEnd } = checked(ringSchema, await readJson(incoming));
  const options = {
    ...(ringMs === undefined ? {} : { ringMs }),
    ...(farEnd === undefined ? {} : { farEnd }),
  };
  return { id: calls.ring(from, to, options).id };
}

/** `since` is an id, and excludes its call. */
function listed(calls: CallSwitch, query: URLSearchParams): unknown {
  const since = query.get('since') ?? '0';
  if (!/^\d{1,9}$/.test(since)) throw new HttpError('invalid_request', 'since: must be the id of a call');
  return calls.calls.filter(({ id }) => id > Number(since)).map((call) => call.view());
}

/** By the far end, if there is one, or by the network. */
function end(call: Call, { query }: RouteRequest): unknown {
  const text = query.get('cause') ?? String(CAUSE.normalClearing);
  const cause = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (cause < 1 || cause > CAUSE_MAX) throw new HttpError('invalid_request', 'cause: must be 1 to 127');
  call.end(farSideOf(call) ?? 'network', cause);
  return call.view();
}

async function pressKeys(call: Call, { incoming }: RouteRequest): Promise<unknown> {
  const { digits, tone_ms: toneMs, gap_ms: gapMs } = checked(keysSchema, await readJson(incoming));
  const side = farSideOf(call);
  const keys = [...digits].map((digit) => ({ digit, toneMs, gapMs }));
  if (side === undefined || !call.press(side, keys)) {
    throw new HttpError(
      'no_far_end',
      'a far end can press keys only in an answered call, at most 64 in advance',
    );
  }
  return call.view();
}

function farSideOf(call: Call): Side | undefined {
  return (['destination', 'origin'] as const).find((side) => call.leg(side)?.voice !== undefined);
}

/** The last frames of the line between a modem and its host. */
function frames(call: Call, { query }: RouteRequest): unknown {
  const direction = query.get('direction') ?? 'to_host';
  const since = query.get('since') ?? '0';
  if ((direction !== 'to_host' && direction !== 'from_host') || !/^\d{1,9}$/.test(since)) {
    throw new HttpError('invalid_request', 'direction: to_host or from_host; since: the id of a frame');
  }
  const side = query.get('side') ?? (call.leg('origin')?.audio === undefined ? 'destination' : 'origin');
  if (side !== 'origin' && side !== 'destination') {
    throw new HttpError('invalid_request', 'side: origin or destination');
  }
  return call.leg(side)?.audio?.frames(direction, Number(since)) ?? [];
}
