// Tickets for media links: each is valid for one upgrade and for a short time.
import { randomBytes } from 'node:crypto';
import type { WebSocket } from 'ws';
import type { Clock } from '#shared/clock.ts';
import { mediaAuthorization } from '#shared/voice/media.ts';

/** The node opens the link as soon as it gets the command. */
const TICKET_LIFETIME_MS = 10_000;

/** Tickets that wait for their node. There are no more calls than SIMs. */
const TICKETS_MAX = 10_000;

type OnMediaLink = (socket: WebSocket) => void;

export class MediaTickets {
  readonly #clock: Clock;
  /** By the `Authorization` header that presents them. */
  readonly #waiting = new Map<string, OnMediaLink>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Issues a ticket for a link that `onLink` gets. Throws when too many wait. */
  issue(onLink: OnMediaLink): string {
    if (this.#waiting.size >= TICKETS_MAX) throw new Error('too many media links are being opened');
    const ticket = randomBytes(32).toString('base64url');
    const header = mediaAuthorization(ticket);
    this.#waiting.set(header, onLink);
    this.#clock.after(TICKET_LIFETIME_MS, () => this.#waiting.delete(header));
    return ticket;
  }

  /** Consumes a ticket; undefined for a header without a valid one. */
  use(authorization: string | undefined): OnMediaLink | undefined {
    const onLink = this.#waiting.get(authorization ?? '');
    this.#waiting.delete(authorization ?? '');
    return onLink;
  }
}
