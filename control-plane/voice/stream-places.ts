// Which instance has the stream of a call. Audio does not cross instances: a call whose node is linked at one may be streamed by another.
import { type Bus, NoResponder } from '../bus/bus.ts';
import { callSubject } from './call-id.ts';

/** Another instance answers at once, or hangs. */
const ASK_TIMEOUT_MS = 2_000;

/**
 * Where the stream of a call is, apart from this instance. `unanswered`: an instance had it, and does not answer now. `unknown`: no instance can
 * be asked.
 */
type StreamPlace = 'elsewhere' | 'nowhere' | 'unanswered' | 'unknown';

const subjectOf = (callId: string): string => callSubject('stream', callId);

export class StreamPlaces {
  readonly #bus: Bus;

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  /** A client has the stream of the call here, until the returned function is called. */
  opened(callId: string): () => void {
    return this.#bus.serve(subjectOf(callId), async () => true);
  }

  async find(callId: string): Promise<StreamPlace> {
    if (!this.#bus.isConnected) return 'unknown';
    return this.#bus.request(subjectOf(callId), {}, { timeoutMs: ASK_TIMEOUT_MS }).then(
      () => 'elsewhere',
      (error: unknown) => (error instanceof NoResponder && !error.isUndecided ? 'nowhere' : 'unanswered'),
    );
  }
}
