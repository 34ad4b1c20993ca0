// Live pages: after a change, every topic that is watched is rendered again, at most once a second.
import type { ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Clock, Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { type ConsoleSession, keyOfSession, type Sessions } from '../session/sessions.ts';
import { CURRENT, type Fragment, LiveTopic, oldSince } from './live-topic.ts';
import { Viewers } from './viewers.ts';

/** Between two renderings of everything that is watched: what happens is seen within a second. */
const RENDER_MS = 700;

/** Events within this time are rendered together. */
const GATHER_MS = 50;

/** A rendering that takes long is not begun again before this many times as long. */
const REST_FACTOR = 10;

/** A change without an event, such as a node that falls silent, is seen this much later. */
const TICK_MS = 5_000;

/** How long a session that has ended may go on looking. */
const SESSIONS_MS = 1_000;

const BEATS_EVERY_TICKS = 3;

/** A topic that was not rendered for this long is stale. */
const OLD_MS = 3 * TICK_MS;

/** Topics that are remembered while they have no viewers. */
const TOPICS_MAX = 200;

interface LiveFeedParts {
  clock: Clock;
  log: Logger;
  sessions: Pick<Sessions, 'stillOpen'>;
  /** The parts of a topic's page as they are now. */
  render: (topic: string) => Promise<Fragment[]>;
}

export class LiveFeed {
  readonly #parts: LiveFeedParts;
  readonly #topics = new LRUCache<string, LiveTopic>({ max: TOPICS_MAX });
  readonly #viewers = new Viewers();
  #isRendering = false;
  #isDirty = false;
  #restUntil = 0;
  #next: Timer | undefined;
  #tick: Timer | undefined;
  #ticks = 0;
  #check: Timer | undefined;
  #isStopped = false;

  constructor(parts: LiveFeedParts) {
    this.#parts = parts;
  }

  /** Something has happened that pages may show. */
  touch(): void {
    if (this.#viewers.size === 0 || this.#isStopped) return;
    this.#isDirty = true;
    this.#schedule();
  }

  /** The parts of a page now, and the version that its stream goes on from. */
  async show(topic: string): Promise<{ fragments: Fragment[]; version: string }> {
    const fragments = await this.#parts.render(topic);
    return { fragments, version: this.#take(topic, fragments) };
  }

  /** Streams a topic to a response whose headers are set, from what `version` did not have. */
  async watch(
    topic: string,
    version: string,
    session: ConsoleSession,
    response: ServerResponse,
  ): Promise<void> {
    this.#viewers.admit(session);
    this.#take(topic, await this.#parts.render(topic));
    if (response.destroyed || this.#isStopped) {
      response.destroy();
      return;
    }
    this.#viewers.open(topic, session, response, this.#topics.get(topic)?.since(version));
    this.#tick ??= this.#parts.clock.after(TICK_MS, () => this.#onTick());
    this.#check ??= this.#parts.clock.after(SESSIONS_MS, () => void this.#checkSessions());
  }

  stop(): void {
    this.#isStopped = true;
    for (const timer of [this.#next, this.#tick, this.#check]) timer?.cancel();
    this.#viewers.stop();
  }

  /** Notes the parts of a topic, sends its viewers the changes, and returns the version. */
  #take(topic: string, fragments: readonly Fragment[]): string {
    const known = this.#topics.get(topic) ?? new LiveTopic();
    this.#topics.set(topic, known);
    const event = known.update(fragments);
    if (event !== undefined) this.#viewers.send(topic, event);
    known.knownAt = this.#parts.clock.now();
    if (known.isOld) this.#viewers.send(topic, CURRENT);
    known.isOld = false;
    return known.version;
  }

  /** Notifies the viewers of a topic, once, that their page is old, and since when. */
  #sendOld(topic: string): void {
    const known = this.#topics.get(topic);
    if (known === undefined || known.isOld) return;
    known.isOld = true;
    this.#viewers.send(topic, oldSince(new Date(known.knownAt)));
  }

  #schedule(): void {
    if (!this.#isDirty || this.#isStopped || this.#isRendering || this.#next !== undefined) return;
    const delayMs = Math.max(GATHER_MS, this.#restUntil - this.#parts.clock.now());
    this.#next = this.#parts.clock.after(Math.min(delayMs, TICK_MS), () => {
      this.#next = undefined;
      void this.#renderAll();
    });
  }

  async #renderAll(): Promise<void> {
    const { clock, log, render } = this.#parts;
    this.#isRendering = true;
    this.#isDirty = false;
    const startedAt = clock.now();
    for (const topic of this.#viewers.topics()) {
      await render(topic).then(
        (fragments) => this.#take(topic, fragments),
        (error: unknown) => {
          log.warn({ err: error }, 'console updates failed: reading the database failed');
          this.#sendOld(topic);
        },
      );
    }
    const restMs = Math.max(RENDER_MS, (clock.now() - startedAt) * REST_FACTOR);
    this.#restUntil = startedAt + restMs;
    this.#isRendering = false;
    this.#schedule();
  }

  #onTick(): void {
    this.#tick = undefined;
    if (this.#isStopped || this.#viewers.size === 0) return;
    this.#ticks += 1;
    if (this.#ticks % BEATS_EVERY_TICKS === 0) this.#viewers.beat();
    const oldest = this.#parts.clock.now() - OLD_MS;
    for (const topic of this.#viewers.topics())
      if ((this.#topics.get(topic)?.knownAt ?? 0) < oldest) this.#sendOld(topic);
    this.touch();
    this.#tick = this.#parts.clock.after(TICK_MS, () => this.#onTick());
  }

  async #checkSessions(): Promise<void> {
    const { clock, log, sessions } = this.#parts;
    const watching = this.#viewers.sessions();
    try {
      const open = await sessions.stillOpen(distinct(watching));
      // Sessions that came meanwhile were not checked.
      const asked = new Set(watching.map(keyOfSession));
      const fresh = this.#viewers
        .sessions()
        .map(keyOfSession)
        .filter((key) => !asked.has(key));
      this.#viewers.keepOnly(new Set([...open, ...fresh]));
    } catch (error) {
      log.warn({ err: error }, 'checking the sessions of the console failed');
    }
    this.#check =
      this.#isStopped || this.#viewers.size === 0
        ? undefined
        : clock.after(SESSIONS_MS, () => void this.#checkSessions());
  }
}

const distinct = (sessions: readonly ConsoleSession[]): ConsoleSession[] => [
  ...new Map(sessions.map((session) => [keyOfSession(session), session])).values(),
];
