// Listens to an audio port while there is no call. The port should be silent.
import { type Clock, sleep } from '#shared/clock.ts';
import { messageOf } from '#shared/error-message.ts';
import type { OpenPort } from '../at/port.ts';
import type { HeardAudio } from './seen/slot-view.ts';

/** GPS receivers send their position once a second. */
const LISTEN_MS = 1_500;
/** Enough to recognize the audio. */
const OCTETS_MAX = 16 * 1024;

/** Collects a limited amount of a port's output. */
export class Collected {
  #octets = Buffer.alloc(0);

  get octets(): Buffer {
    return this.#octets;
  }

  add(bytes: Uint8Array): void {
    if (this.#octets.length < OCTETS_MAX) this.#octets = Buffer.concat([this.#octets, bytes]);
  }
}

/** Never rejects. Returns `not_heard` if the port cannot be opened. */
export async function listenTo(openPort: OpenPort, path: string, clock: Clock): Promise<HeardAudio> {
  try {
    const port = await openPort(path);
    const collected = new Collected();
    port.onData((bytes) => collected.add(bytes));
    await sleep(clock, LISTEN_MS);
    await port.close();
    return { kind: 'heard', octets: collected.octets };
  } catch (error) {
    return { kind: 'not_heard', why: `the audio port cannot be opened: ${messageOf(error)}` };
  }
}
