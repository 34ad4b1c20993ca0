// The stream of a call in the protocol of Vonage's Voice API and Audio Connector, so that bots written for them connect unchanged.
// https://developer.vonage.com/en/voice/voice-api/guides/websockets
import type { WebSocket } from 'ws';
import { payloadField, type VonageServerFrame, vonageClientFrameSchema } from '#shared/api/vonage-frames.ts';
import type { Clock } from '#shared/clock.ts';
import { jsonOf } from '#shared/json.ts';
import type { Logger } from '#shared/log.ts';
import { STREAM_CLOSE } from '#shared/voice/close-code.ts';
import { causeText } from '#shared/voice/release-cause.ts';
import { type CallIdentity, parametersOf } from '../call-identity.ts';
import { IgnoredMessages, type StreamAllowance } from '../stream-allowance.ts';
import { onMessages, type StreamClient, type StreamedCall, UnblockedSender } from '../stream-client.ts';
import { AUDIO_BYTES_MAX, RAW_MESSAGE_BYTES_MAX, TEXT_BYTES_MAX, TEXT_COSTS } from './raw-stream.ts';
import { AudioFormatError, audioOf } from './riff-header.ts';

export const VONAGE_MESSAGE_BYTES_MAX = RAW_MESSAGE_BYTES_MAX;

interface VonageStreamOptions {
  identity: CallIdentity;
  call: StreamedCall;
  allowance: StreamAllowance;
  clock: Clock;
  log: Logger;
}

export class VonageStream implements StreamClient {
  readonly #sender: UnblockedSender;
  readonly #ignored: IgnoredMessages;
  readonly #identity: CallIdentity;
  readonly #call: StreamedCall;
  #isConnected = false;

  constructor(socket: WebSocket, { allowance, identity, call, clock, log }: VonageStreamOptions) {
    this.#identity = identity;
    this.#call = call;
    this.#sender = new UnblockedSender(socket, clock);
    this.#ignored = new IgnoredMessages(log, allowance.warnedIn(identity.callId));
    onMessages(socket, { allowance, clock, ...TEXT_COSTS }, (data, isBinary) => {
      if (isBinary) this.#onAudio(data);
      else this.#onText(data);
    });
  }

  get undeliveredFrames(): number {
    return this.#sender.dropped;
  }

  answered(): void {
    this.#isConnected = true;
    this.#send({
      event: 'websocket:connected',
      'content-type': 'audio/l16;rate=16000',
      call_id: this.#identity.callId,
      ...parametersOf(this.#identity),
      direction: this.#identity.direction,
    });
  }

  /** `websocket:connected` must come first. */
  audio(frame: Uint8Array): void {
    if (this.#isConnected) this.#sender.sendOrDrop(frame);
  }

  /** The name is the payload of a `notify`, unless a client with another protocol set it before this one came. */
  mark(name: string): void {
    const { data } = payloadField.safeParse(jsonOf(name));
    if (data !== undefined) this.#send({ event: 'websocket:notify', payload: data });
  }

  cleared(): void {
    this.#send({ event: 'websocket:cleared' });
  }

  digit(digit: string): void {
    this.#send({ event: 'websocket:dtmf', digit, duration: 0 });
  }

  /** Vonage does not report it. */
  overflow(): void {}

  /** Always the code of a normal end: bots report any other as an error. */
  ended(cause: number): void {
    this.close(STREAM_CLOSE.normal, causeText(cause));
  }

  close(code: number, reason: string): void {
    this.#isConnected = false;
    this.#sender.close(code, reason);
  }

  #onAudio(data: Buffer): void {
    try {
      const audio = audioOf(data);
      if (audio.length > AUDIO_BYTES_MAX) this.#ignored.add('invalid');
      else if (audio.length > 0) this.#call.play(audio);
    } catch (error) {
      if (!(error instanceof AudioFormatError)) throw error;
      this.#ignored.add('invalid');
    }
  }

  #onText(data: Buffer): void {
    const json = data.length > TEXT_BYTES_MAX ? undefined : jsonOf(data.toString());
    if (json === undefined) {
      this.#ignored.add('malformed');
      return;
    }
    const message = vonageClientFrameSchema.safeParse(json).data;
    switch (message?.action) {
      case 'clear':
        this.#call.clear();
        return;
      case 'notify':
        this.#call.mark(JSON.stringify(message.payload));
        return;
      case 'dtmf':
        this.#call.press(message.digits);
        return;
      case undefined:
        this.#ignored.add('invalid');
        return;
    }
  }

  #send(message: VonageServerFrame): void {
    this.#sender.send(message);
  }
}
