// The media link of one call. Each call has its own WebSocket, so that a stalled call delays no message and no other call.
import { WebSocket } from 'ws';
import type { Clock, Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { MEDIA_CLOSE } from '#shared/voice/close-code.ts';
import {
  decodePlayout,
  encodeCapture,
  MEDIA_FRAME_BYTES_MAX,
  MEDIA_PATH,
  MEDIA_PING_MS,
  MediaFrameError,
  mediaAuthorization,
  type NodeMediaMessage,
  parseServerMedia,
  samplesOf,
} from '#shared/voice/media.ts';
import { isPlainUrl } from './identity.ts';

const HANDSHAKE_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 1_000;
/** Octets that may wait to be sent: half a second of audio. Further frames are dropped, because they would come too late. */
const WAITING_OCTETS_MAX = 32 * 1024;

/** The node's end of the link. */
interface MediaLinkEvents {
  onPlayout(audio: Int16Array, isLive: boolean): void;
  onClear(): { played: number; dropped: number };
  onDigits(digits: string): void;
  onEnd(): void;
}

export class MediaLink {
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  #sequence = 0;
  #endTimer: Timer | undefined;
  #pingTimer: Timer | undefined;
  #isAnswered = true;

  private constructor(socket: WebSocket, clock: Clock, log: Logger, events: MediaLinkEvents) {
    this.#socket = socket;
    this.#clock = clock;
    socket.on('message', (data: Buffer, isBinary) => {
      try {
        if (isBinary) {
          const { audio, isLive } = decodePlayout(data);
          events.onPlayout(samplesOf(audio), isLive);
        } else this.#onText(data.toString(), events);
      } catch (error) {
        if (!(error instanceof MediaFrameError)) throw error;
        log.warn({ err: error }, 'the media link received an invalid frame');
        this.close(MEDIA_CLOSE.invalidData, 'bad frame');
      }
    });
    socket.on('pong', () => {
      this.#isAnswered = true;
    });
    socket.on('close', () => {
      this.#endTimer?.cancel();
      this.#pingTimer?.cancel();
      events.onEnd();
    });
    this.#pingLater();
  }

  /** Opens the link. Rejects if the instance refuses it. Without `isInsecure`, also rejects for a URL without TLS to another host. */
  static async open(
    baseUrl: string,
    ticket: string,
    parts: {
      readonly clock: Clock;
      readonly log: Logger;
      readonly events: MediaLinkEvents;
      readonly isInsecure?: boolean;
    },
  ): Promise<MediaLink> {
    if (isPlainUrl(baseUrl) && parts.isInsecure !== true) {
      parts.log.error(
        { baseUrl },
        'refused a media link without TLS: this node was not enrolled with --insecure',
      );
      throw new Error('the URL of the media link has no TLS');
    }
    const socket = new WebSocket(`${baseUrl.replace(/^http/, 'ws').replace(/\/+$/, '')}${MEDIA_PATH}`, {
      headers: { authorization: mediaAuthorization(ticket) },
      perMessageDeflate: false,
      maxPayload: MEDIA_FRAME_BYTES_MAX,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    });
    return new Promise((resolve, reject) => {
      socket.on('error', (error) => {
        parts.log.debug({ err: error }, 'media link error');
        reject(error);
      });
      socket.once('upgrade', ({ socket: raw }) => raw.setNoDelay(true));
      socket.once('open', () => resolve(new MediaLink(socket, parts.clock, parts.log, parts.events)));
    });
  }

  /** Returns false if the frame was dropped because too much is waiting. */
  sendCapture(frame: { audio: Int16Array; played: number; granted: number }): boolean {
    const sequence = this.#sequence;
    this.#sequence += 1;
    if (this.#socket.readyState !== WebSocket.OPEN || this.#socket.bufferedAmount > WAITING_OCTETS_MAX)
      return false;
    const { audio } = frame;
    const octets = new Uint8Array(audio.buffer, audio.byteOffset, audio.byteLength);
    this.#socket.send(encodeCapture({ ...frame, sequence, audio: octets }));
    return true;
  }

  sendDigit(digit: string): void {
    this.#send({ type: 'dtmf', digit });
  }

  close(code: number, reason = ''): void {
    this.#socket.close(code, reason);
    this.#endTimer ??= this.#clock.after(CLOSE_TIMEOUT_MS, () => this.#socket.terminate());
  }

  /** Ends the link if the last ping was not answered. */
  #pingLater(): void {
    this.#pingTimer = this.#clock.after(MEDIA_PING_MS, () => {
      if (!this.#isAnswered) {
        this.#socket.terminate();
        return;
      }
      this.#isAnswered = false;
      if (this.#socket.readyState === WebSocket.OPEN) this.#socket.ping();
      this.#pingLater();
    });
  }

  #onText(text: string, events: MediaLinkEvents): void {
    const message = parseServerMedia(text);
    if (message.type === 'clear') this.#send({ type: 'cleared', id: message.id, ...events.onClear() });
    else events.onDigits(message.digits);
  }

  #send(message: NodeMediaMessage): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }
}
