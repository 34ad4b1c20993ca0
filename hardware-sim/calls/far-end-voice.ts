// The voice of a far end: its own audio, the audio of a client, and the listeners to what it hears.
import { LOUD_PEAK, NETWORK_FRAME_SAMPLES, NETWORK_RATE_HZ, peakOf } from '../audio/frame.ts';
import { SampleQueue } from '../audio/sample-queue.ts';
import { Tone } from '../audio/tone.ts';
import { WavRecorder } from '../audio/wav.ts';
import { type FarEndSettings, wavSamplesOf } from './far-end-settings.ts';

/** Audio that a client may send in advance: two seconds. */
const MOUTH_SAMPLES_MAX = 2 * NETWORK_RATE_HZ;

/** Gets each frame that the far end hears. */
type Ear = (frame: Int16Array) => void;

/** Voice of one far end in one call. Driven by the clock of the modem at the other side. */
export class FarEndVoice {
  #mouth = new SampleQueue(MOUTH_SAMPLES_MAX);
  #next: (heard: Int16Array) => Int16Array;
  readonly #recorder: WavRecorder | undefined;
  #ear: Ear | undefined;
  readonly #counters = { frames: 0, mouth_samples: 0, mouth_samples_dropped: 0 };
  #lastLoudHeardAtMs: number | null = null;
  #lastLoudSaidAtMs: number | null = null;
  readonly #now: () => number;

  /** Throws `WaveError`, or a file system error for a recording. */
  constructor(settings: FarEndSettings, { callId, now }: { callId: number; now: () => number }) {
    this.#now = now;
    this.#next = voiceOf(settings);
    const { record } = settings;
    if (record !== undefined) this.#recorder = new WavRecorder(record.replaceAll('{id}', String(callId)));
  }

  get hasListener(): boolean {
    return this.#ear !== undefined;
  }

  /** Returns the function that ends it. */
  listen(ear: Ear): () => void {
    this.#ear = ear;
    return () => {
      if (this.#ear === ear) this.#ear = undefined;
    };
  }

  /**
   * Plays these samples in place of its own audio. It drops and counts samples that are more than two seconds
   * ahead.
   */
  say(samples: Int16Array): void {
    const taken = this.#mouth.push(samples);
    this.#counters.mouth_samples += taken;
    this.#counters.mouth_samples_dropped += samples.length - taken;
  }

  /** Takes one frame from the other side and returns one. */
  exchange(heard: Int16Array): Int16Array {
    this.#counters.frames += 1;
    this.#recorder?.add(heard);
    this.#ear?.(heard);
    const own = this.#next(heard);
    const sent = this.#mouth.take(NETWORK_FRAME_SAMPLES);
    if (sent.length > 0) own.set(sent);
    if (peakOf(heard) >= LOUD_PEAK) this.#lastLoudHeardAtMs = this.#now();
    if (peakOf(own) >= LOUD_PEAK) this.#lastLoudSaidAtMs = this.#now();
    return own;
  }

  close(): void {
    this.#recorder?.close();
    this.#ear = undefined;
    // Records of calls are kept for long, their samples are not.
    this.#mouth = new SampleQueue(0);
    this.#next = silence;
  }

  view(): Record<string, unknown> {
    return {
      ...this.#counters,
      ...(this.#recorder?.hasFailed === true ? { recording_failed: true } : {}),
      last_loud_heard_at_ms: this.#lastLoudHeardAtMs,
      last_loud_said_at_ms: this.#lastLoudSaidAtMs,
    };
  }
}

/** A function that gives a frame of its own for each one heard. */
function voiceOf(settings: FarEndSettings): (heard: Int16Array) => Int16Array {
  const { audio, wav } = settings;
  if (audio === 'tone') {
    const tone = new Tone(settings.tone_hz, settings.level_dbfs);
    return () => tone.next(NETWORK_FRAME_SAMPLES);
  }
  if (audio === 'wav' && wav !== undefined) {
    const samples = wavSamplesOf(wav);
    let position = 0;
    return () => {
      const frame = new Int16Array(NETWORK_FRAME_SAMPLES);
      frame.set(samples.subarray(position, position + NETWORK_FRAME_SAMPLES));
      position += NETWORK_FRAME_SAMPLES;
      return frame;
    };
  }
  if (audio === 'echo') {
    const delaySamples = (settings.delay_ms * NETWORK_RATE_HZ) / 1000;
    const line = new SampleQueue(delaySamples + NETWORK_FRAME_SAMPLES);
    line.push(new Int16Array(delaySamples));
    return (heard) => {
      line.push(heard);
      return line.take(NETWORK_FRAME_SAMPLES);
    };
  }
  return silence;
}

function silence(): Int16Array {
  return new Int16Array(NETWORK_FRAME_SAMPLES);
}
