// Every request that the simulator answers; those about messages are in sms-routes.ts.
import * as z from 'zod';
import { iccidSchema, isE164 } from '#shared/identities.ts';
import type { CallSwitch } from '../calls/call-switch.ts';
import type { Carrier } from '../carrier/carrier.ts';
import { parseFault } from '../faults/fault-set.ts';
import type { SimulatedModem } from '../modem/modem.ts';
import type { SimCards } from '../modem/sim-cards.ts';
import type { EventFeed } from '../state/event-feed.ts';
import { callRoutes } from './call-routes.ts';
import { EventStreams } from './event-stream.ts';
import { FarEndAudioServer } from './far-end-audio.ts';
import { HttpError } from './http-error.ts';
import { type Answers, checked, type Route, type RouteRequest, readJson } from './route.ts';
import { smsRoutes } from './sms-routes.ts';
import { modemView, simView } from './views.ts';

/** The rack, as the routes use it. */
export interface Rack {
  modems: readonly SimulatedModem[];
  simCards: SimCards;
  carrier: Carrier;
  calls: CallSwitch;
  feed: EventFeed;
  /** Code of the network, MCC and MNC. */
  homeNetwork: string;
}

const SHOWN_SLOTS_MAX = 8;

const powerSchema = z.strictObject({
  action: z.enum(['off', 'on', 'cycle']),
  /** Between off and on of a cycle. */
  off_ms: z.int().min(0).max(600_000).default(1000),
});

const cardSchema = z.strictObject({ iccid: z.string().nullable(), urc: z.boolean().default(false) });
const swapSchema = z.strictObject({
  modems: z.tuple([z.string(), z.string()]),
  urc: z.boolean().default(false),
});

const issueSchema = z.strictObject({
  number: z.string().refine(isE164, 'must be E.164, such as +12065550100'),
  iccid: iccidSchema.optional(),
  imsi: z
    .string()
    .regex(/^\d{15}$/, 'must be 15 digits')
    .optional(),
});

/** Answers of the routes, and what to close at the end. */
export function answersOf(rack: Rack): Answers {
  const streams = new EventStreams(rack.feed);
  const audio = new FarEndAudioServer(rack.calls);
  const { simCards, carrier } = rack;
  const ofModem = (handle: (modem: SimulatedModem, request: RouteRequest) => unknown): Route['handle'] => {
    return (request) => handle(modemOf(rack, request.parameter), request);
  };
  const routes: Route[] = [
    { method: 'GET', path: '/modems', handle: () => rack.modems.map(modemView) },
    { method: 'GET', path: '/modems/{imei}', handle: ofModem(modemView) },
    { method: 'POST', path: '/modems/{imei}/faults', handle: ofModem(setFault) },
    { method: 'DELETE', path: '/modems/{imei}/faults', handle: ofModem(clearFaults) },
    { method: 'POST', path: '/modems/{imei}/power', handle: ofModem(power) },
    { method: 'POST', path: '/modems/{imei}/mode-switch', handle: ofModem(switchMode) },
    {
      method: 'POST',
      path: '/modems/{imei}/sim',
      handle: ofModem((modem, request) => putCard(simCards, modem, request)),
    },
    { method: 'POST', path: '/swap', handle: (request) => swapCards(rack, request) },
    {
      method: 'GET',
      path: '/sims',
      handle: () => simCards.cards.map((card) => simView(card, simCards, carrier)),
    },
    { method: 'POST', path: '/sims', status: 201, handle: (request) => issueCard(rack, request) },
    ...smsRoutes(carrier),
    ...callRoutes(rack.calls),
    { method: 'GET', path: '/events', handle: (request) => openStream(streams, request) },
  ];
  return {
    routes,
    upgrade: (incoming, socket, head) => audio.upgrade(incoming, socket, head),
    close: () => {
      audio.close();
      streams.close();
    },
  };
}

/** By IMEI; for people at a keyboard also by slot, or by the place on the bus, which is the slot's name in a daemon. */
function modemOf({ modems }: Pick<Rack, 'modems'>, name: string): SimulatedModem {
  const modem = modems.find(({ imei, slot, usb }) => [imei, slot, usb.path].includes(name));
  if (modem === undefined)
    throw new HttpError(
      'unknown_modem',
      `no modem has the IMEI, slot or place ${name}. Slots of this rack: ${slotsText(modems)}`,
    );
  return modem;
}

/** The first slots, with their places: a rack may have a hundred. */
function slotsText(modems: readonly SimulatedModem[]): string {
  const shown = modems.slice(0, SHOWN_SLOTS_MAX).map(({ slot, usb }) => `${slot} (${usb.path})`);
  const more = modems.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more: GET /modems lists them` : ''}`;
}

async function setFault(modem: SimulatedModem, { incoming }: RouteRequest): Promise<unknown> {
  modem.play(parseFault(await readJson(incoming)));
  return modemView(modem);
}

function clearFaults(modem: SimulatedModem): unknown {
  modem.clearFaults();
  return modemView(modem);
}

async function power(modem: SimulatedModem, { incoming }: RouteRequest): Promise<unknown> {
  const { action, off_ms: offMs } = checked(powerSchema, await readJson(incoming));
  if (action === 'cycle') modem.power.cycle(offMs);
  else if (action === 'off') modem.power.unplug();
  else modem.power.plugIn();
  return modemView(modem);
}

function switchMode(modem: SimulatedModem): unknown {
  modem.power.switchMode();
  return modemView(modem);
}

async function putCard(
  simCards: SimCards,
  modem: SimulatedModem,
  { incoming }: RouteRequest,
): Promise<unknown> {
  const { iccid, urc } = checked(cardSchema, await readJson(incoming));
  simCards.put(iccid ?? undefined, modem, { isAnnounced: urc });
  return modemView(modem);
}

async function issueCard(
  { simCards, carrier, homeNetwork }: Rack,
  { incoming }: RouteRequest,
): Promise<unknown> {
  const wanted = checked(issueSchema, await readJson(incoming));
  return simView(simCards.issue(wanted, homeNetwork), simCards, carrier);
}

async function swapCards(rack: Rack, { incoming }: RouteRequest): Promise<unknown> {
  const { modems: names, urc } = checked(swapSchema, await readJson(incoming));
  const [first, second] = [modemOf(rack, names[0]), modemOf(rack, names[1])];
  rack.simCards.swap(first, second, { isAnnounced: urc });
  return [first, second].map(modemView);
}

/** A browser's EventSource sends the header by itself when it comes back. */
function openStream(streams: EventStreams, { incoming, response, query }: RouteRequest): void {
  const text = incoming.headers['last-event-id'] ?? query.get('since') ?? undefined;
  if (text !== undefined && !/^\d{1,15}$/.test(String(text))) {
    throw new HttpError('invalid_request', 'Last-Event-ID: must be the id of an event');
  }
  streams.open(response, text === undefined ? undefined : Number(text));
}
