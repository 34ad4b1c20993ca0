// WebSocket /calls/{id}/audio: the voice of a far end, S16LE of 16 kHz, one channel.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { bytesOf, samplesOf } from '../audio/frame.ts';
import type { Call } from '../calls/call.ts';
import type { CallSwitch } from '../calls/call-switch.ts';
import type { FarEndVoice } from '../calls/far-end-voice.ts';
import { callOf } from './call-routes.ts';
import { HttpError, refuseUpgrade, STATUSES } from './http-error.ts';

/** Two seconds: the audio that a client may send in advance. */
const MESSAGE_BYTES_MAX = 64_000;
/** A client that reads slower loses frames. */
const BUFFERED_BYTES_MAX = 64_000;

const NORMAL_CLOSURE = 1000;
const UNSUPPORTED_DATA = 1003;

/** The clients of that path. */
export class FarEndAudioServer {
  readonly #calls: CallSwitch;
  readonly #server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MESSAGE_BYTES_MAX,
  });

  constructor(calls: CallSwitch) {
    this.#calls = calls;
  }

  /** Takes over a connection that asks for an upgrade, or refuses it with the status of an error. */
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    try {
      const { call, voice } = this.#find(incoming.url ?? '');
      this.#server.handleUpgrade(incoming, socket, head, (client) => join(client, call, voice));
    } catch (error) {
      const status = error instanceof HttpError ? STATUSES[error.code] : 500;
      refuseUpgrade(socket, `${status} Refused`);
    }
  }

  close(): void {
    for (const client of this.#server.clients) client.terminate();
  }

  #find(url: string): { call: Call; voice: FarEndVoice } {
    const id = /^\/calls\/(\d+)\/audio$/.exec(url)?.[1];
    if (id === undefined) throw new HttpError('not_found', `nothing exists at ${url}`);
    const call = callOf(this.#calls, id);
    const voice = call.leg('destination')?.voice ?? call.leg('origin')?.voice;
    if (voice === undefined || call.state === 'ended')
      throw new HttpError('no_far_end', 'the call has ended, or has no far end');
    if (voice.hasListener) throw new HttpError('no_far_end', 'another client already speaks for the far end');
    return { call, voice };
  }
}

function join(client: WebSocket, call: Call, voice: FarEndVoice): void {
  const leave = voice.listen((frame) => {
    if (client.bufferedAmount <= BUFFERED_BYTES_MAX) client.send(bytesOf(frame));
  });
  const stopWaiting = call.whenEnded(() => client.close(NORMAL_CLOSURE, `cause ${call.cause ?? ''}`));
  client.on('message', (data: RawData, isBinary) => {
    const bytes = Buffer.isBuffer(data) ? data : Buffer.alloc(0);
    if (!isBinary || bytes.length % 2 === 1) client.close(UNSUPPORTED_DATA, 'send whole samples of S16LE');
    else voice.say(samplesOf(bytes));
  });
  client.on('error', () => client.terminate());
  client.on('close', () => {
    stopWaiting();
    leave();
  });
}
