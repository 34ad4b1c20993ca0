// Judges who answered a call by its first seconds: a person says a word and waits, a machine talks on, plays music or beeps. Pure.
import type { Answerer } from '#shared/voice/call.ts';
import { FRAME_MS } from '#shared/voice/media.ts';
import type { FrameFeatures } from './frame-features.ts';
import { type HeardFrames, hear, NOTHING_HEARD, SOUND_FRAMES_MIN } from './speech-activity.ts';

/** Measures of the sound since the answer. */
export interface Greeting {
  readonly heard: HeardFrames;
  readonly frames: number;
  /** From the first sound to the last one, with the pauses between them. */
  readonly talkFrames: number;
  readonly soundFrames: number;
  /** Since the last sound. */
  readonly pauseFrames: number;
  /** Frames of steady tones. */
  readonly tones: number;
  /** Undefined while it cannot be judged yet; then it stays. */
  readonly verdict: Answerer | undefined;
}

const frames = (ms: number): number => ms / FRAME_MS;

/** A person who answers pauses after this at the latest. A machine talks on. */
const TALK_MAX = frames(2_800);
/** A person waits for an answer: for longer than a greeting pauses between sentences, or before its beep. */
const PAUSE = frames(1_300);
/** After this much silence nothing can be judged. */
const SILENCE_MAX = frames(5_000);
const TOTAL_MAX = frames(10_000);

export const NO_GREETING: Greeting = {
  heard: NOTHING_HEARD,
  frames: 0,
  talkFrames: 0,
  soundFrames: 0,
  pauseFrames: 0,
  tones: 0,
  verdict: undefined,
};

/** Adds the next frame after the answer. */
export function addFrame(before: Greeting, frame: FrameFeatures): Greeting {
  if (before.verdict !== undefined) return before;
  const heard = hear(before.heard, frame);
  const next = withActivity({ ...before, heard, frames: before.frames + 1 });
  return { ...next, verdict: verdictOf(next) };
}

function withActivity(greeting: Greeting): Greeting {
  const { activity } = greeting.heard;
  if (activity === 'silence') {
    // A click is forgotten.
    if (greeting.soundFrames < SOUND_FRAMES_MIN && greeting.pauseFrames >= SOUND_FRAMES_MIN)
      return { ...greeting, talkFrames: 0, soundFrames: 0, pauseFrames: 0 };
    return greeting.talkFrames === 0 ? greeting : { ...greeting, pauseFrames: greeting.pauseFrames + 1 };
  }
  return {
    ...greeting,
    talkFrames: greeting.talkFrames + greeting.pauseFrames + 1,
    soundFrames: greeting.soundFrames + 1,
    pauseFrames: 0,
    tones: greeting.tones + (activity === 'tone' ? 1 : 0),
  };
}

function verdictOf(greeting: Greeting): Answerer | undefined {
  if (greeting.tones > 0 || greeting.talkFrames > TALK_MAX) return 'machine';
  if (greeting.pauseFrames >= PAUSE && greeting.soundFrames >= SOUND_FRAMES_MIN) return 'human';
  const isSilent = greeting.talkFrames === 0 && greeting.frames >= SILENCE_MAX;
  return isSilent || greeting.frames >= TOTAL_MAX ? 'unknown' : undefined;
}
