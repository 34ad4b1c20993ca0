// Distinguishes speech from silence and from steady tones, frame by frame: a fold over the features of frames. Pure.
import { FRAME_MS } from '#shared/voice/media.ts';
import { type FrameFeatures, SILENCE_DB } from './frame-features.ts';

/** Kind of a frame. `sound`: speech, music or noise that stands out. */
type Activity = 'silence' | 'sound' | 'tone';

export interface HeardFrames {
  readonly activity: Activity;
  /** Lowest levels of the last blocks of frames, oldest first: the noise of the line. */
  readonly lows: readonly number[];
  readonly framesInBlock: number;
  /** A run of frames that may be one tone: its length, and what it sounded like at first. */
  readonly run: number;
  readonly runHz: number;
  readonly runDb: number;
}

/** Shorter sounds are clicks. */
export const SOUND_FRAMES_MIN = 100 / FRAME_MS;

const BLOCK_FRAMES = 200 / FRAME_MS;
/** Two seconds: speech has a dip between words within them, steady noise has none. */
const BLOCKS = 10;

/** Sound exceeds the noise of the line by this much. */
const ABOVE_NOISE_DB = 12;
/** The noise of a line is within these bounds, whatever the call began with. */
const NOISE_MIN_DB = -62;
const NOISE_MAX_DB = -38;

const TONALITY_MIN = 0.95;
/** A tone keeps its frequency and level for this long; vowels do not. */
const TONE_FRAMES = 180 / FRAME_MS;
const TONE_HZ_MIN = 350;
const TONE_HZ_SPREAD = 0.06;
const TONE_DB_SPREAD = 3;

export const NOTHING_HEARD: HeardFrames = {
  activity: 'silence',
  lows: [NOISE_MAX_DB],
  framesInBlock: 0,
  run: 0,
  runHz: 0,
  runDb: SILENCE_DB,
};

/** Adds the next frame. A tone is recognized at its ninth frame; before, it is sound. */
export function hear(before: HeardFrames, frame: FrameFeatures): HeardFrames {
  const { framesInBlock, lows } = withLevel(before, frame.levelDb);
  const noiseDb = Math.min(NOISE_MAX_DB, Math.max(NOISE_MIN_DB, Math.min(...lows)));
  const isLoud = frame.levelDb > noiseDb + ABOVE_NOISE_DB;
  const run = isLoud ? runOf(before, frame) : NO_RUN;
  const activity = run.run >= TONE_FRAMES ? 'tone' : isLoud ? 'sound' : 'silence';
  return { activity, lows, framesInBlock, ...run };
}

const NO_RUN = { run: 0, runHz: 0, runDb: SILENCE_DB };

function withLevel({ framesInBlock, lows }: HeardFrames, levelDb: number) {
  if (framesInBlock >= BLOCK_FRAMES) return { lows: [...lows.slice(1 - BLOCKS), levelDb], framesInBlock: 1 };
  const low = Math.min(lows.at(-1) ?? levelDb, levelDb);
  return { lows: [...lows.slice(0, -1), low], framesInBlock: framesInBlock + 1 };
}

function runOf(before: HeardFrames, { crossingsHz, levelDb, tonality }: FrameFeatures) {
  const hz = crossingsHz / 2;
  if (tonality < TONALITY_MIN || hz < TONE_HZ_MIN) return NO_RUN;
  const goesOn =
    before.run > 0 &&
    Math.abs(hz - before.runHz) <= TONE_HZ_SPREAD * before.runHz &&
    Math.abs(levelDb - before.runDb) <= TONE_DB_SPREAD;
  return goesOn
    ? { run: before.run + 1, runHz: before.runHz, runDb: before.runDb }
    : { run: 1, runHz: hz, runDb: levelDb };
}
