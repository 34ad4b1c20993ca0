// Nodes, calls and the media of calls.
import { withTimeout } from '#shared/clock.ts';
import { FRAME_MS } from '#shared/voice/media.ts';
import { Fleet } from '../nodes/fleet.ts';
import { bindNumber } from '../nodes/provisioning.ts';
import { LiveCalls } from '../voice/live-calls.ts';
import { MediaTickets } from '../voice/media-tickets.ts';
import { Presence } from '../voice/presence.ts';
import type { Base } from './base.ts';

/** A payer waits no longer for the node to confirm a number; it is bound as soon as the node answers. */
const PROVISION_WAIT_MS = 3_000;

export type Telephony = ReturnType<typeof createTelephony>;

export function createTelephony({ config, db, bus, clock, log, url }: Base) {
  const fleet = new Fleet();
  const tickets = new MediaTickets(clock);
  const live = new LiveCalls({
    db,
    bus,
    fleet,
    clock,
    log,
    tickets,
    mediaBaseUrl: config.mediaBaseUrl ?? null,
    holdMs: config.streamHoldMs,
    unclaimedMs: config.unclaimedCallMs,
    queueFrames: Math.ceil(config.playoutQueueMs / FRAME_MS),
  });
  const streamUrl = (callId: string): string => `${url.replace(/^http/, 'ws')}/voice/stream/${callId}`;
  const presence = new Presence({ live, db, bus, clock, log, streamUrl });
  const claims = {
    waitMs: config.handoverWaitMs,
    admitsNew: config.admitNewSims,
    servedSince: new Date(clock.now()),
    isLinkedHere: (nodeId: string) => fleet.find(nodeId) !== undefined,
  };
  const nodeParts = { db, bus, fleet, clock, log, claims, calls: live, heartbeatMs: config.heartbeatMs };

  /** Asks the node for the number; it is bound later where the node does not answer now. Never rejects. */
  const provision = (number: string): Promise<void> =>
    withTimeout(
      clock,
      bindNumber(nodeParts, number),
      PROVISION_WAIT_MS,
      () => new Error('no answer yet'),
    ).catch((error: unknown) => log.warn({ err: error }, 'a number is not bound yet'));

  return { fleet, tickets, live, streamUrl, presence, nodeParts, provision };
}
