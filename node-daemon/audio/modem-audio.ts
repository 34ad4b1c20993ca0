// The modem's side of one call's audio: for each frame from the modem, one goes to the modem. The modem is the clock.
import type { Clock } from '#shared/clock.ts';
import type { AudioStatistics } from '#shared/voice/call.ts';
import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from '#shared/voice/media.ts';
import type { CreateResampler, Resampler } from '#shared/voice/resample.ts';
import { DtmfDetector } from './dtmf-detector.ts';
import { FrameCutter, type Rate } from './frame-cutter.ts';
import { HELD_FRAMES_MAX, JitterBuffer } from './jitter-buffer.ts';
import { LineLevel } from './line-level.ts';
import type { PcmDevice } from './pcm-device.ts';

/** A frame of the far end, 16 kHz, with the progress of the client's audio. */
export interface Captured {
  readonly audio: Int16Array;
  readonly played: number;
  readonly granted: number;
}

interface ModemAudioParts {
  readonly device: PcmDevice;
  /** Undefined: the rate is measured. */
  readonly rateHz: Rate | undefined;
  readonly createResampler: CreateResampler;
  readonly clock: Clock;
  /** Returns false if the frame could not be passed on. It then counts as lost. */
  readonly onFrame: (frame: Captured) => boolean;
  /** If given, keys of the far end are detected in the audio. */
  readonly onDigit?: ((digit: string) => void) | undefined;
}

interface Resamplers {
  readonly up: Resampler;
  readonly down: Resampler;
}

export class ModemAudio {
  readonly #parts: ModemAudioParts;
  readonly #cutter: FrameCutter;
  readonly #buffer = new JitterBuffer();
  readonly #detector = new DtmfDetector();
  readonly #level = new LineLevel();
  #resamplers: Resamplers | undefined;
  #captured = 0;
  #playedFrames = 0;
  #refused = 0;
  #lost = 0;
  #isPaused = false;
  #isClosed = false;

  constructor(parts: ModemAudioParts) {
    this.#parts = parts;
    this.#cutter = new FrameCutter(parts.rateHz);
    parts.device.onAudio((octets) => {
      // Audio still arrives while the device closes, or from a pipe. It would create new resamplers.
      if (this.#isClosed) return;
      const nowMs = parts.clock.now();
      const frames = this.#cutter.push(octets, nowMs);
      let answers = frames.length > 0 ? this.#level.gave(frames.length, nowMs) : 0;
      for (const frame of frames) {
        this.#onFrame(frame, answers > 0);
        answers -= 1;
      }
    });
  }

  get statistics(): AudioStatistics {
    return {
      captured_frames: this.#captured,
      played_frames: this.#playedFrames,
      late_frames: this.#buffer.late,
      dropped_frames: this.#buffer.dropped + this.#refused,
      lost_frames: this.#lost,
      capture_gaps: this.#cutter.gaps,
      xruns: this.#parts.device.xruns,
    };
  }

  /** Queues a frame of the client, 320 samples at 16 kHz. `isLive`: as in shared/voice/media.ts. */
  play(frame: Int16Array, isLive: boolean): void {
    this.#buffer.push(frame, isLive);
  }

  /** Discards the audio that the modem does not have yet. Returns the number of frames. */
  clear(): { played: number; dropped: number } {
    const dropped = this.#buffer.clear();
    return { played: this.#buffer.played, dropped };
  }

  /** The modem pauses its input, or continues. */
  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#parts.device.close();
    this.#resamplers?.up.close();
    this.#resamplers?.down.close();
    this.#resamplers = undefined;
  }

  #onFrame(frame: Int16Array, isAnswered: boolean): void {
    const resamplers = this.#resamplersFor(this.#cutter.rateHz);
    this.#captured += 1;
    if (isAnswered) this.#answer(resamplers, frame.length);
    const { played } = this.#buffer;
    const audio = resamplers === undefined ? frame : resamplers.up.process(frame);
    const { onDigit } = this.#parts;
    if (onDigit !== undefined) for (const digit of this.#detector.push(audio)) onDigit(digit);
    if (!this.#parts.onFrame({ audio, played, granted: played + HELD_FRAMES_MAX })) this.#lost += 1;
  }

  /** Writes one frame to the modem for the one that it sent, unless it has too many. */
  #answer(resamplers: Resamplers | undefined, samples: number): void {
    // Audio that the modem does not accept now is not late later: silence is left out, and other audio waits in the buffer.
    if (this.#isPaused || !this.#level.takes()) return;
    const frame = this.#buffer.pull();
    const wide = frame ?? new Int16Array(FRAME_SAMPLES);
    const narrow = resamplers === undefined ? wide : resamplers.down.process(wide).subarray(0, samples);
    const octets = new Uint8Array(narrow.buffer, narrow.byteOffset, narrow.byteLength);
    const isTaken = this.#parts.device.write(octets);
    if (isTaken) this.#level.given(this.#parts.clock.now());
    if (frame === undefined) return;
    if (isTaken) this.#playedFrames += 1;
    else this.#refused += 1;
  }

  #resamplersFor(rateHz: Rate | undefined): Resamplers | undefined {
    if (rateHz === undefined || rateHz === SAMPLE_RATE_HZ) return undefined;
    const { createResampler } = this.#parts;
    this.#resamplers ??= {
      up: createResampler(rateHz, SAMPLE_RATE_HZ),
      down: createResampler(SAMPLE_RATE_HZ, rateHz),
    };
    return this.#resamplers;
  }
}
