// Every request that the simulator answers.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { isE164 } from '#shared/e164.ts';
import { type Carrier, CarrierError } from '../carrier/carrier.ts';
import type { EventFeed } from '../carrier/event-feed.ts';
import { isOriginator } from '../carrier/numbering.ts';
import { FaultError, parseFault } from '../modem/faults.ts';
import type { SimulatedModem } from '../modem/modem.ts';
import { PduError } from '../pdu/octets.ts';
import type { HeardMessage } from '../state/rack-state.ts';
import { EventStreams } from './event-stream.ts';
import { HttpError } from './http-error.ts';
import { checked, readJson } from './json-body.ts';
import { messageView, modemView } from './views.ts';

/** What the routes act on. */
export interface Rack {
  modems: readonly SimulatedModem[];
  carrier: Carrier;
  feed: EventFeed;
}

/** A request that has found its route. */
export interface RouteRequest {
  incoming: IncomingMessage;
  response: ServerResponse;
  query: URLSearchParams;
  /** The part of the path in braces, decoded. */
  parameter: string;
}

/** One request that is answered. */
export interface Route {
  method: 'GET' | 'POST' | 'DELETE';
  /** `{…}` stands for one segment. */
  path: string;
  /** Status of a success that is not 200. */
  status?: number;
  /** The JSON to answer with; `undefined` when the answer is already on its way. Throws `HttpError`. */
  handle: (request: RouteRequest) => unknown;
}

const numberSchema = z.string().refine(isE164, 'must be E.164, such as +12065550100');
/** Text that can go on the air: no lone surrogates, which have no encoding. */
const bodySchema = z
  .string()
  .min(1)
  .refine((text) => !/\p{Surrogate}/u.test(text), 'has half of a surrogate pair');

const smsSchema = z.strictObject({
  from: z.string().refine(isOriginator, 'must be E.164, a short code, or a name of at most 11 characters'),
  to: numberSchema,
  body: bodySchema,
  encoding: z.enum(['gsm7', 'ucs2']).optional(),
  reference_bits: z.literal([8, 16]).default(8),
});

const rawSmsSchema = z.strictObject({
  to: numberSchema,
  pdu: z.string().regex(/^[0-9A-Fa-f]{0,1024}$/, 'must be at most 1024 hex digits'),
  /** What the modem shall claim the length to be. */
  length: z.int().min(0).max(999).optional(),
});

const powerSchema = z.strictObject({
  action: z.enum(['off', 'on', 'cycle']),
  /** Between off and on of a cycle. */
  off_ms: z.int().min(0).max(600_000).default(1000),
});

/** Answers of the routes, and what to close at the end. */
export function routesOf(rack: Rack): { routes: readonly Route[]; close: () => void } {
  const streams = new EventStreams(rack.feed);
  const routes: Route[] = [
    { method: 'GET', path: '/modems', handle: () => rack.modems.map(modemView) },
    {
      method: 'GET',
      path: '/modems/{imei}',
      handle: ({ parameter }) => modemView(modemOf(rack, parameter)),
    },
    { method: 'POST', path: '/modems/{imei}/faults', handle: (request) => setFault(rack, request) },
    { method: 'DELETE', path: '/modems/{imei}/faults', handle: (request) => clearFaults(rack, request) },
    { method: 'POST', path: '/modems/{imei}/power', handle: (request) => power(rack, request) },
    { method: 'POST', path: '/modems/{imei}/mode-switch', handle: (request) => switchMode(rack, request) },
    { method: 'GET', path: '/sms', handle: ({ query }) => heardMessages(rack, query) },
    { method: 'POST', path: '/sms', status: 202, handle: (request) => sendSms(rack, request) },
    { method: 'POST', path: '/sms/raw', status: 202, handle: (request) => sendRawSms(rack, request) },
    { method: 'GET', path: '/events', handle: ({ response }) => streams.open(response) },
  ];
  return { routes, close: () => streams.close() };
}

/** By IMEI, or by slot for people at a keyboard. */
function modemOf({ modems }: Rack, name: string): SimulatedModem {
  const modem = modems.find(({ identity }) => identity.imei === name || identity.slot === name);
  if (modem === undefined) throw new HttpError('unknown_modem', `no modem has the IMEI ${name}`);
  return modem;
}

async function setFault(rack: Rack, { incoming, parameter }: RouteRequest): Promise<unknown> {
  const modem = modemOf(rack, parameter);
  const value = await readJson(incoming);
  try {
    modem.play(parseFault(value));
  } catch (error) {
    if (error instanceof FaultError) throw new HttpError('invalid_fault', error.message, { cause: error });
    throw error;
  }
  return modemView(modem);
}

function clearFaults(rack: Rack, { parameter }: RouteRequest): unknown {
  const modem = modemOf(rack, parameter);
  modem.clearFaults();
  return modemView(modem);
}

async function power(rack: Rack, { incoming, parameter }: RouteRequest): Promise<unknown> {
  const modem = modemOf(rack, parameter);
  const { action, off_ms: offMs } = checked(powerSchema, await readJson(incoming));
  if (action === 'cycle') modem.powerCycle(offMs);
  else if (action === 'off') modem.unplug();
  else modem.plugIn();
  return modemView(modem);
}

function switchMode(rack: Rack, { parameter }: RouteRequest): unknown {
  const modem = modemOf(rack, parameter);
  modem.switchMode();
  return modemView(modem);
}

async function sendSms({ carrier }: Rack, { incoming }: RouteRequest): Promise<unknown> {
  const {
    from,
    to,
    body,
    encoding,
    reference_bits: referenceBits,
  } = checked(smsSchema, await readJson(incoming));
  return refusing(() => carrier.send({ from, to, body, encoding, referenceBits }));
}

async function sendRawSms({ carrier }: Rack, { incoming }: RouteRequest): Promise<unknown> {
  const { to, pdu, length } = checked(rawSmsSchema, await readJson(incoming));
  return refusing(() => carrier.sendRaw(to, pdu, length));
}

function refusing<T>(send: () => T): T {
  try {
    return send();
  } catch (error) {
    if (error instanceof PduError) throw new HttpError('invalid_request', error.message, { cause: error });
    if (error instanceof CarrierError) throw new HttpError(error.code, error.message, { cause: error });
    throw error;
  }
}

/** Date and time with zone, as in RFC 3339 §5.6. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

function heardMessages({ carrier }: Rack, query: URLSearchParams): unknown {
  const isIncluded = sinceFilter(query.get('since'));
  return [...carrier.heard()].filter(isIncluded).map(messageView);
}

/** An id excludes its message, a time includes what was sent at that time. */
function sinceFilter(since: string | null): (message: HeardMessage) => boolean {
  if (since === null) return () => true;
  if (/^\d{1,15}$/.test(since)) return ({ id }) => id > Number(since);
  // In a query a plus sign arrives as a space unless it was escaped.
  const instant = since.replace(' ', '+');
  const sinceMs = INSTANT.test(instant) ? Date.parse(instant) : Number.NaN;
  if (Number.isNaN(sinceMs))
    throw new HttpError('invalid_request', 'since: must be an id or an ISO 8601 time');
  return ({ at_ms: atMs }) => atMs >= sinceMs;
}
