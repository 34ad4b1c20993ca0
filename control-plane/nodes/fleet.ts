// The nodes that have a link to this instance, and commands to them.
import type { CommandName, CommandParams, CommandResults } from '#shared/link/messages.ts';
import type { LiveCall } from '#shared/voice/call.ts';

/** The fleet's view of a link. */
export interface NodeLink {
  readonly nodeId: string;
  /** Sends a command and waits for its result. Throws `CommandRefused` or `NodeUnavailable`. */
  command<N extends CommandName>(
    name: N,
    params: CommandParams<N>,
    options: { id: string; timeLeftMs: number; timeoutMs: number },
  ): Promise<CommandResults[N]>;
  /** Resolves when the slots that the node has reported so far are stored. */
  slotsWritten(): Promise<void>;
  /** Checks with the store whether the node may keep this link, and ends the link if not. */
  recheck(): Promise<void>;
  /** Called during a drain when the node found no other instance: the link may end at once. */
  hasNowhereToGo(): void;
  close(code: number, reason: string): void;
}

/** No link, the link broke, or no response in time: the node may or may not have run the command. */
export class NodeUnavailable extends Error {
  override name = 'NodeUnavailable';
  /** False when the command certainly never left this process. */
  readonly isSent: boolean;

  constructor(message: string, isSent: boolean) {
    super(message);
    this.isSent = isSent;
  }
}

/** Follows the calls of nodes that have a link to this instance. */
export interface CallWatch {
  /** A link has begun; `calls` are all calls of the node. */
  linked(nodeId: string, calls: readonly LiveCall[]): void;
  /** A call has begun or changed. */
  changed(nodeId: string, call: LiveCall): void;
  /** The node's link has ended. */
  unlinked(nodeId: string): void;
}

export class Fleet {
  readonly #links = new Map<string, NodeLink>();
  readonly #turns = new Map<string, Promise<void>>();

  /** Adds a link and returns the older one of the same node, which the caller ends. */
  attach(link: NodeLink): NodeLink | undefined {
    const older = this.#links.get(link.nodeId);
    this.#links.set(link.nodeId, link);
    return older;
  }

  /** Removes a link. Returns false if a newer link has replaced it. */
  detach(link: NodeLink): boolean {
    return this.#links.get(link.nodeId) === link && this.#links.delete(link.nodeId);
  }

  /** Nodes with a link to this instance. */
  get size(): number {
    return this.#links.size;
  }

  find(nodeId: string): NodeLink | undefined {
    return this.#links.get(nodeId);
  }

  /** Opens the links of one node one after the other, so that the last request wins. */
  async inTurn(nodeId: string, work: () => Promise<void>): Promise<void> {
    const before = this.#turns.get(nodeId) ?? Promise.resolve();
    const turn = before.then(work);
    const done = turn.catch(() => undefined);
    this.#turns.set(nodeId, done);
    try {
      await turn;
    } finally {
      if (this.#turns.get(nodeId) === done) this.#turns.delete(nodeId);
    }
  }
}
