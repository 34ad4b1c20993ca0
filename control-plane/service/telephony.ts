// Nodes, calls and the media of calls.
import { withTimeout } from '#shared/clock.ts';
import { FRAME_MS } from '#shared/voice/media.ts';
import { Fleet } from '../nodes/fleet.ts';
import { audioBudgets } from '../nodes/frame-limiter.ts';
import { bindNumber } from '../nodes/provisioning.ts';
import { LiveCalls } from '../voice/live-calls.ts';
import { MediaTickets } from '../voice/media-tickets.ts';
import { Presence } from '../voice/presence.ts';
import { createPresenceEvents } from '../voice/presence-event.ts';
import { StreamPlaces } from '../voice/stream-places.ts';
import type { ServiceBase } from './store.ts';

/** A payer waits at most this long for the node to confirm a number; the number is bound as soon as the node responds. */
const PROVISION_WAIT_MS = 3_000;

export type Telephony = ReturnType<typeof createTelephony>;

export function createTelephony({ config, db, bus, clock, random, log, pins, url }: ServiceBase) {
  const fleet = new Fleet(bus);
  const tickets = new MediaTickets(clock);
  const places = new StreamPlaces(bus);
  const shared = { db, bus, fleet, clock, random, log };
  const live = new LiveCalls({
    ...shared,
    tickets,
    places,
    audioBudgets: audioBudgets(clock),
    // URL of this instance: a node whose control link is at another one must find it. Null: the URL of the control link.
    mediaBaseUrl: config.mediaBaseUrl ?? (config.natsUrl === undefined ? null : url),
    holdMs: config.streamHoldMs,
    unclaimedMs: config.unclaimedCallMs,
    queueFrames: Math.ceil(config.playoutQueueMs / FRAME_MS),
  });
  const streamUrl = (callId: string): string => `${url.replace(/^http/, 'ws')}/voice/stream/${callId}`;
  const presenceEvents = createPresenceEvents(streamUrl);
  const presence = new Presence({ live, db, bus, clock, log, events: presenceEvents });
  const claims = {
    waitMs: config.handoverWaitMs,
    admitsNew: config.admitNewSims,
    servedSince: new Date(clock.now()),
    isLinkedHere: (nodeId: string) => fleet.find(nodeId) !== undefined,
  };
  const { heartbeatMs, sendTimeoutMs, streamHoldMs } = config;
  const nodeParts = {
    ...shared,
    claims,
    calls: live,
    heartbeatMs,
    pins,
    sendTimeoutMs,
    streamHoldMs,
  };

  /** Asks the node to confirm the number. If the node does not respond now, the number is bound later. Never rejects. */
  const provision = (number: string): Promise<void> =>
    withTimeout(
      clock,
      bindNumber(nodeParts, number),
      PROVISION_WAIT_MS,
      () => new Error('no response yet'),
    ).catch((error: unknown) => log.warn({ err: error }, 'number not bound yet'));

  return { fleet, tickets, live, places, streamUrl, presence, presenceEvents, nodeParts, provision };
}
