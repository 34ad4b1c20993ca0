// The stream of a call as plain audio: 16 kHz samples in binary frames, control messages as JSON in text frames.
import type { WebSocket } from 'ws';
import {
  clientFrameSchema,
  type ServerFrame,
  VOICE_SUBPROTOCOL,
  wrongFieldOf,
} from '#shared/api/voice-frames.ts';
import type { Clock } from '#shared/clock.ts';
import type { Answerer } from '#shared/voice/call.ts';
import { STREAM_CLOSE } from '#shared/voice/close-code.ts';
import { callClose } from '#shared/voice/release-cause.ts';
import type { Cleared } from '../audio-bridge.ts';
import type { StreamAllowance } from '../stream-allowance.ts';
import { onMessages, type StreamClient, type StreamedCall, UnblockedSender } from '../stream-client.ts';
import { AudioFormatError, audioOf, RIFF_HEADER_BYTES } from './riff-header.ts';

/** A minute of audio, which is what the queue holds by default. */
export const AUDIO_BYTES_MAX = 2 * 1024 * 1024;
export const TEXT_BYTES_MAX = 64 * 1024;
export const RAW_MESSAGE_BYTES_MAX = AUDIO_BYTES_MAX + RIFF_HEADER_BYTES;

/** Parsing one takes as long as this many audio frames: 125 a second are allowed, and 375 at once. */
const TEXT_COST = 8;
export const TEXT_COSTS = { textCost: TEXT_COST, textUnitBytes: 1_024 };

export class RawStream implements StreamClient {
  readonly #sender: UnblockedSender;
  readonly #wantsText: boolean;

  constructor(
    socket: WebSocket,
    { allowance, call, clock }: { allowance: StreamAllowance; call: StreamedCall; clock: Clock },
  ) {
    this.#sender = new UnblockedSender(socket, clock);
    this.#wantsText = socket.protocol === VOICE_SUBPROTOCOL;
    onMessages(socket, { allowance, clock, ...TEXT_COSTS }, (data, isBinary) => {
      if (isBinary) this.#onAudio(call, data);
      else this.#onText(call, data);
    });
  }

  get undeliveredFrames(): number {
    return this.#sender.dropped;
  }

  audio(frame: Uint8Array): void {
    this.#sender.sendOrDrop(frame);
  }

  answered(): void {
    this.#sendFrame({ type: 'answered' });
  }

  judged(answeredBy: Answerer): void {
    this.#sendFrame({ type: 'answered_by', answered_by: answeredBy });
  }

  mark(name: string): void {
    this.#sendFrame({ type: 'mark', name });
  }

  cleared({ playedMs, droppedMs, marks }: Cleared): void {
    this.#sendFrame({ type: 'cleared', played_ms: playedMs, dropped_ms: droppedMs, marks });
  }

  digit(digit: string): void {
    this.#sendFrame({ type: 'dtmf', digit });
  }

  overflow(droppedMs: number): void {
    this.#sendFrame({ type: 'overflow', dropped_ms: droppedMs });
  }

  ended(cause: number): void {
    const { code, reason } = callClose(cause);
    this.#sender.close(code, reason);
  }

  close(code: number, reason: string): void {
    this.#sender.close(code, reason);
  }

  #onAudio(call: StreamedCall, data: Buffer): void {
    try {
      const audio = audioOf(data);
      if (audio.length > AUDIO_BYTES_MAX)
        this.close(STREAM_CLOSE.tooBig, 'a message must have at most 2 MiB of audio');
      else if (audio.length > 0) call.play(audio);
    } catch (error) {
      if (!(error instanceof AudioFormatError)) throw error;
      this.close(STREAM_CLOSE.invalidData, error.message);
    }
  }

  #onText(call: StreamedCall, data: Buffer): void {
    if (data.length > TEXT_BYTES_MAX) {
      this.close(STREAM_CLOSE.tooBig, 'a text frame must have at most 64 KiB');
      return;
    }
    let json: unknown;
    try {
      json = JSON.parse(data.toString());
    } catch {
      this.close(STREAM_CLOSE.invalidData, 'text frames must be JSON; send audio in binary frames');
      return;
    }
    const parsed = clientFrameSchema.safeParse(json);
    if (!parsed.success) {
      this.#sendFrame({ type: 'error', ...wrongFieldOf(parsed.error) });
      return;
    }
    const control = parsed.data;
    switch (control.type) {
      case 'clear':
        call.clear();
        return;
      case 'mark':
        call.mark(control.name);
        return;
      case 'dtmf':
        call.press(control.digits);
        return;
      case 'hangup':
        call.finish(control.when);
        return;
    }
  }

  #sendFrame(message: ServerFrame): void {
    if (this.#wantsText) this.#sender.send(message);
  }
}
