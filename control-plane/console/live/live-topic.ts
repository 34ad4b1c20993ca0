// A topic with many viewers: rendered once, and its changes sent to all of them in the same bytes.
import { randomBytes } from 'node:crypto';
import type { Html } from '#shared/html.ts';

/** A part of a page that is replaced as a whole: the element with this id. */
export interface Fragment {
  id: string;
  html: Html;
  /**
   * It is sent again when this changes: its HTML unless given. A fragment that contains others gives their ids, and is sent only when
   * those change.
   */
  key?: string;
}

interface Known {
  key: string;
  html: Html;
  version: number;
}

export class LiveTopic {
  /** Versions of another topic, or of another process, say nothing here. */
  readonly #epoch = randomBytes(6).toString('hex');
  readonly #known = new Map<string, Known>();
  #version = 0;
  /** When the parts were as they are known, ms since the Unix epoch. */
  knownAt = 0;
  /** The viewers were notified that their page is old. */
  isOld = false;

  get version(): string {
    return `${this.#epoch}-${this.#version}`;
  }

  /** Takes the parts as they are now; returns an event with those that have changed, undefined when none has. */
  update(fragments: readonly Fragment[]): Buffer | undefined {
    const changed = fragments.filter(({ id, html, key = html.text }) => this.#known.get(id)?.key !== key);
    // A part that is not sent again may still differ inside.
    for (const { id, html } of fragments) {
      const known = this.#known.get(id);
      if (known !== undefined) known.html = html;
    }
    this.#forget(fragments);
    if (changed.length === 0) return undefined;
    this.#version += 1;
    for (const { id, html, key = html.text } of changed)
      this.#known.set(id, { key, html, version: this.#version });
    return eventOf(this.version, changed);
  }

  /** The changes since `version`: undefined for none. */
  since(version: string): Buffer | undefined {
    const seen = this.#seen(version);
    const missed = [...this.#known].filter(([, known]) => known.version > seen);
    if (missed.length === 0) return undefined;
    return eventOf(
      this.version,
      missed.map(([id, { html }]) => ({ id, html })),
    );
  }

  #seen(version: string): number {
    const [, epoch, count] = /^(.+)-(\d{1,15})$/.exec(version) ?? [];
    const seen = Number(count);
    return epoch === this.#epoch && seen <= this.#version ? seen : -1;
  }

  #forget(fragments: readonly Fragment[]): void {
    const ids = new Set(fragments.map(({ id }) => id));
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
  }
}

/** An event of a stream (HTML standard, "server-sent events"). */
const eventOf = (version: string, fragments: readonly Fragment[]): Buffer =>
  Buffer.from(
    `id: ${version}\ndata: ${JSON.stringify(fragments.map(({ id, html }) => [id, html.text]))}\n\n`,
  );

/** The page shows the state at that time; there is no newer one. */
export const oldSince = (at: Date): Buffer => Buffer.from(`event: old\ndata: ${at.toISOString()}\n\n`);

/** The page is current again. */
export const CURRENT = Buffer.from('event: current\ndata: \n\n');
