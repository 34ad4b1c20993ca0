// The audio between a modem and its host during a call: counters, and the last frames with their times.
import { LOUD_PEAK, type SampleRateHz } from '../audio/frame.ts';
import { BoundedLog } from '../state/bounded-log.ts';

/** A minute. */
const FRAMES_KEPT = 3000;

/** `to_host`: the far end's voice, from the modem to the host. `from_host`: the audio that the host sends. */
type AudioDirection = 'to_host' | 'from_host';

/** One frame of a direction, as `GET /calls/{id}/frames` shows it. */
interface FrameView {
  /** Counts from 1 in its direction. */
  id: number;
  /** Written to the host, or played: milliseconds since the epoch, with fractions. */
  at_ms: number;
  /** When its last octet came from the host. */
  arrived_at_ms?: number;
  /** Highest absolute sample. */
  peak: number;
}

/** Audio of one leg of one call. */
export class LegAudio {
  /** Route of the audio; null until the host switches it on. */
  route: 'serial' | 'usb' | null = null;
  sampleRateHz: SampleRateHz = 8000;
  readonly counters = {
    /** Frames of 20 ms given to the host, and taken from it and played. */
    frames_to_host: 0,
    frames_from_host: 0,
    /** Frames that the host did not read in time. */
    frames_not_read: 0,
    /** Frames of silence played for want of samples, once the host had begun to talk. */
    underruns: 0,
    /** Octets from the host for which there was no room. */
    bytes_dropped: 0,
    /** Frames lost in both directions while this process was stalled. */
    frames_skipped: 0,
  };
  readonly #frames: Record<AudioDirection, BoundedLog<FrameView>> = {
    to_host: new BoundedLog(FRAMES_KEPT),
    from_host: new BoundedLog(FRAMES_KEPT),
  };
  readonly #loud: Record<AudioDirection, { first: number | null; last: number | null }> = {
    to_host: { first: null, last: null },
    from_host: { first: null, last: null },
  };

  onSent(atMs: number, peak: number): void {
    this.counters.frames_to_host += 1;
    this.#note('to_host', { id: this.counters.frames_to_host, at_ms: atMs, peak });
  }

  onTaken(times: { atMs: number; arrivedAtMs: number }, peak: number): void {
    this.counters.frames_from_host += 1;
    const { atMs, arrivedAtMs } = times;
    const id = this.counters.frames_from_host;
    this.#note('from_host', { id, at_ms: atMs, arrived_at_ms: arrivedAtMs, peak });
  }

  /** Frames behind an id that are still kept, oldest first. */
  frames(direction: AudioDirection, afterId: number): FrameView[] {
    return this.#frames[direction].after(afterId);
  }

  /** The counters are kept. */
  forgetFrames(): void {
    this.#frames.to_host = new BoundedLog(0);
    this.#frames.from_host = new BoundedLog(0);
  }

  /** As `GET /calls` shows it. */
  view(): Record<string, unknown> {
    return {
      route: this.route,
      sample_rate_hz: this.sampleRateHz,
      ...this.counters,
      first_loud_to_host_at_ms: this.#loud.to_host.first,
      last_loud_to_host_at_ms: this.#loud.to_host.last,
      first_loud_from_host_at_ms: this.#loud.from_host.first,
      last_loud_from_host_at_ms: this.#loud.from_host.last,
    };
  }

  #note(direction: AudioDirection, frame: FrameView): void {
    this.#frames[direction].push(frame);
    if (frame.peak < LOUD_PEAK) return;
    const loud = this.#loud[direction];
    loud.first ??= frame.at_ms;
    loud.last = frame.at_ms;
  }
}
