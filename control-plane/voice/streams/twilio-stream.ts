// The stream of a call in Twilio's bidirectional Media Streams protocol, so that bots written for it connect unchanged.
// https://www.twilio.com/docs/voice/media-streams/websocket-messages
import { createHash } from 'node:crypto';
import type { WebSocket } from 'ws';
import { twilioClientFrameSchema } from '#shared/api/twilio-frames.ts';
import type { Clock } from '#shared/clock.ts';
import { jsonOf } from '#shared/json.ts';
import type { Logger } from '#shared/log.ts';
import { STREAM_CLOSE } from '#shared/voice/close-code.ts';
import { FRAME_BYTES, FRAME_MS, FRAME_SAMPLES, SAMPLE_RATE_HZ } from '#shared/voice/media.ts';
import { causeText } from '#shared/voice/release-cause.ts';
import type { CreateResampler, Resampler } from '#shared/voice/resample.ts';
import type { Cleared } from '../audio-bridge.ts';
import { type CallIdentity, parametersOf } from '../call-identity.ts';
import { IgnoredMessages, type StreamAllowance } from '../stream-allowance.ts';
import { onMessages, type StreamClient, type StreamedCall, UnblockedSender } from '../stream-client.ts';
import { decodeMuLaw, encodeMuLaw } from './mu-law.ts';

/** Bots send whole sentences in one message: this is two minutes of audio. */
export const TWILIO_MESSAGE_BYTES_MAX = 1_280 * 1024;

/** 96 ms of audio. To parse, decode and resample it takes as long as two frames of plain audio; two minutes at once are within the limit. */
const MESSAGE_UNIT_BYTES = 1024;

const MU_LAW_HZ = 8_000;

interface TwilioStreamOptions {
  identity: CallIdentity;
  call: StreamedCall;
  allowance: StreamAllowance;
  clock: Clock;
  log: Logger;
  createResampler: CreateResampler;
}

/** A Sid has 34 characters: two letters and 32 hexadecimal digits. A stream that is opened again has the same one. */
const sidOf = (callId: string): string =>
  `MZ${createHash('sha256').update(callId).digest('hex').slice(0, 32)}`;

export class TwilioStream implements StreamClient {
  readonly #options: TwilioStreamOptions;
  readonly #sender: UnblockedSender;
  readonly #ignored: IgnoredMessages;
  readonly #streamSid: string;
  readonly #toClient: Resampler;
  readonly #toCall: Resampler;
  /** Samples must be aligned. */
  readonly #samples = new Int16Array(FRAME_SAMPLES);
  readonly #sampleBytes = new Uint8Array(this.#samples.buffer);
  #sequence = 0;
  #chunk = 0;
  #isStarted = false;

  constructor(socket: WebSocket, options: TwilioStreamOptions) {
    this.#options = options;
    this.#sender = new UnblockedSender(socket, options.clock);
    const { allowance, clock, identity, log } = options;
    this.#ignored = new IgnoredMessages(log, allowance.warnedIn(identity.callId));
    this.#streamSid = sidOf(options.identity.callId);
    this.#toClient = options.createResampler(SAMPLE_RATE_HZ, MU_LAW_HZ);
    this.#toCall = options.createResampler(MU_LAW_HZ, SAMPLE_RATE_HZ);
    const cost = { allowance, clock, textCost: 1, unitBytes: MESSAGE_UNIT_BYTES };
    onMessages(socket, cost, (data, isBinary) => this.#onMessage(data, isBinary));
    socket.on('close', () => {
      this.#isStarted = false;
      this.#toClient.close();
      this.#toCall.close();
    });
    this.#sender.send({ event: 'connected', protocol: 'Call', version: '1.0.0' });
  }

  get undeliveredFrames(): number {
    return this.#sender.dropped;
  }

  answered(): void {
    const { accountId: accountSid, callId: callSid } = this.#options.identity;
    this.#isStarted = true;
    this.#sendEvent('start', {
      accountSid,
      streamSid: this.#streamSid,
      callSid,
      tracks: ['inbound'],
      mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: MU_LAW_HZ, channels: 1 },
      customParameters: parametersOf(this.#options.identity),
    });
  }

  audio(frame: Uint8Array): void {
    // Bots expect no message between connected and start.
    if (!this.#isStarted) return;
    this.#sampleBytes.set(frame.subarray(0, FRAME_BYTES));
    const payload = Buffer.from(encodeMuLaw(this.#toClient.process(this.#samples))).toString('base64');
    const timestamp = this.#chunk * FRAME_MS;
    this.#sequence += 1;
    this.#chunk += 1;
    // Written by hand: nothing in it needs an escape, and it is written fifty times a second.
    this.#sender.sendOrDrop(
      `{"event":"media","sequenceNumber":"${this.#sequence}","media":{"track":"inbound","chunk":"${this.#chunk}",` +
        `"timestamp":"${timestamp}","payload":"${payload}"},"streamSid":"${this.#streamSid}"}`,
    );
  }

  mark(name: string): void {
    this.#sendEvent('mark', { name });
  }

  /** As Twilio does: marks that were not reached are reported as if they were. */
  cleared({ marks }: Cleared): void {
    for (const name of marks) this.mark(name);
  }

  digit(digit: string): void {
    this.#sendEvent('dtmf', { track: 'inbound_track', digit });
  }

  /** Twilio has no word for it. */
  overflow(): void {}

  /** Always the code of a normal end: bots know no other. */
  ended(cause: number): void {
    const { accountId: accountSid, callId: callSid } = this.#options.identity;
    if (this.#isStarted) this.#sendEvent('stop', { accountSid, callSid });
    this.close(STREAM_CLOSE.normal, causeText(cause));
  }

  close(code: number, reason: string): void {
    this.#isStarted = false;
    this.#sender.close(code, reason);
  }

  /** As Twilio does (its warnings 31950 and 31951): a message that it cannot use does not end the call. */
  #onMessage(data: Buffer, isBinary: boolean): void {
    const { call } = this.#options;
    const json = isBinary ? undefined : jsonOf(data.toString());
    if (json === undefined) {
      this.#ignored.add('malformed');
      return;
    }
    const message = twilioClientFrameSchema.safeParse(json).data;
    switch (message?.event) {
      case 'media':
        this.#play(Buffer.from(message.media.payload, 'base64'));
        return;
      case 'mark':
        call.mark(message.mark.name);
        return;
      case 'clear':
        call.clear();
        return;
      case 'dtmf':
        call.press(message.dtmf.digits);
        return;
      case undefined:
        this.#ignored.add('invalid');
        return;
    }
  }

  #play(muLaw: Uint8Array): void {
    const samples = this.#toCall.process(decodeMuLaw(muLaw));
    this.#options.call.play(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
  }

  #sendEvent(event: string, what: object): void {
    this.#sequence += 1;
    this.#sender.send({
      event,
      sequenceNumber: String(this.#sequence),
      [event]: what,
      streamSid: this.#streamSid,
    });
  }
}
