// The nodes that have a link to this instance, and the way to all others.
import { KeyedQueue } from '#shared/keyed-queue.ts';
import { Semaphore } from '#shared/semaphore.ts';
import type { LiveCall } from '#shared/voice/call.ts';
import type { Bus } from '../bus/bus.ts';
import type { CommandLink, NodeLink } from './node-link.ts';
import { findRemote, remoteLink, serveRemote } from './remote-link.ts';

/** Follows the calls of nodes that have a link to this instance. */
export interface CallWatch {
  /** A link has begun; `calls` are all calls of the node. `heardAt`: last sign of life on the link that it replaces, if it does. */
  linked(nodeId: string, calls: readonly LiveCall[], heardAt: Date | undefined): void;
  /** A call has begun or changed. */
  changed(nodeId: string, call: LiveCall): void;
  /** The node's link has ended, on which its last sign of life came at `heardAt`. */
  unlinked(nodeId: string, heardAt: Date): void;
}

export class Fleet {
  readonly #bus: Bus;
  readonly #links = new Map<string, { link: NodeLink; stopServing: () => void }>();
  #rechecks = 0;
  /** Opens the links of one node one after the other, so that the last request wins. */
  readonly turns = new KeyedQueue();
  // A fleet that connects at once leaves connections of the database to requests and facts: together they take seven of the ten that an
  // instance has by default. For each link or upgrade at most one waits, and both have a limit.
  /** Checks of proofs, which strangers send too. */
  readonly proving = new Semaphore(2);
  /** Hellos of proven nodes. */
  readonly opening = new Semaphore(2);
  /** Reports of slots, which take longest. */
  readonly reporting = new Semaphore(3);

  constructor(bus: Bus) {
    this.#bus = bus;
    bus.subscribe((event) => {
      if (event.kind === 'bus_changed' && event.isConnected) void this.#recheckAll();
      if (event.kind === 'node_identity_changed') void this.find(event.nodeId)?.recheck();
      if (event.kind !== 'node_linked') return;
      const link = this.find(event.nodeId);
      if (link?.linkId !== event.linkId) void link?.recheck();
    });
  }

  /** Adds a link, which serves other instances, too. Returns the older one of the same node, which the caller ends. */
  attach(link: NodeLink): NodeLink | undefined {
    const older = this.#links.get(link.nodeId);
    older?.stopServing();
    this.#links.set(link.nodeId, { link, stopServing: serveRemote(this.#bus, link) });
    return older?.link;
  }

  /** The link takes no more commands: those of other instances go to a newer one. */
  retire(link: NodeLink): void {
    const held = this.#links.get(link.nodeId);
    if (held?.link === link) held.stopServing();
  }

  /** Removes a link. Returns false if a newer link has replaced it. */
  detach(link: NodeLink): boolean {
    const held = this.#links.get(link.nodeId);
    if (held?.link !== link) return false;
    held.stopServing();
    return this.#links.delete(link.nodeId);
  }

  /** Nodes with a link to this instance. */
  get size(): number {
    return this.#links.size;
  }

  find(nodeId: string): NodeLink | undefined {
    return this.#links.get(nodeId)?.link;
  }

  /** For commands to a node, wherever its link is then. Whether it has one shows with the first command, and is asked already. */
  reach(nodeId: string): CommandLink {
    const finding = this.find(nodeId) === undefined ? findRemote(this.#bus, nodeId) : undefined;
    return {
      nodeId,
      command: (...command) =>
        (this.find(nodeId) ?? remoteLink(this.#bus, nodeId, finding)).command(...command),
    };
  }

  /** The events of nodes that moved while the bus was away are lost. One after the other: requests want the database, too. */
  async #recheckAll(): Promise<void> {
    this.#rechecks += 1;
    const own = this.#rechecks;
    for (const { link } of [...this.#links.values()]) {
      // The bus was away again, and all links are being checked from the first one on.
      if (own !== this.#rechecks) return;
      if (this.find(link.nodeId) === link) await link.recheck();
    }
  }
}
