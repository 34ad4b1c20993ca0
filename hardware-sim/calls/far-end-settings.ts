// The settings of a far end, a number that is no modem, as `PUT /subscribers/{number}` sets them.
import { readFileSync, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { messageOf } from '#shared/error-message.ts';
import { WaveError } from '#shared/voice/wave.ts';
import { samplesOfWav } from '../audio/wav.ts';
import { CAUSE_MAX } from './cause.ts';

/** A day. */
const DELAY_MS_MAX = 86_400_000;
/** A WAV that is played: a quarter of an hour at 16 kHz. */
const WAV_BYTES_MAX = 32 * 1024 * 1024;
const ECHO_MS_MAX = 10_000;

const delayMs = z.int().min(0).max(DELAY_MS_MAX);

/** Every field may be missing. */
export const farEndSchema = z
  .strictObject({
    answer: z.enum(['auto', 'busy', 'no_answer', 'reject']).default('auto'),
    /** Time from ringing until it answers, or until `busy` or `reject` refuses. */
    after_ms: delayMs.default(0),
    /** Time from dialing until it rings. `busy` and `reject` ring only if this is set. */
    alerting_ms: delayMs.optional(),
    /** `no_answer`: time from ringing until the network gives up. */
    no_answer_ms: delayMs.default(30_000),
    /** Q.850, instead of the usual one of `busy`, `no_answer`, `reject`, and of its hanging up. */
    cause: z.int().min(1).max(CAUSE_MAX).optional(),
    /** From when it answers. */
    hangup_after_ms: delayMs.optional(),
    audio: z.enum(['silence', 'tone', 'echo', 'wav']).default('silence'),
    tone_hz: z.number().min(20).max(7900).default(1000),
    level_dbfs: z.number().min(-90).max(0).default(-12),
    /** Delay of the echo. */
    delay_ms: z.int().min(0).max(ECHO_MS_MAX).default(0),
    /** The WAV file that it plays once: an absolute path, or the file itself in base64. */
    wav: z.string().min(1).optional(),
    /** Absolute path of the WAV file that it records; `{id}` stands for the id of the call. */
    record: z.string().refine(isAbsolute, 'must be an absolute path').optional(),
  })
  .refine(({ audio, wav }) => audio !== 'wav' || wav !== undefined, {
    path: ['wav'],
    message: 'is missing',
  });

/** As it goes over HTTP, with defaults filled in. */
export type FarEndSettings = z.output<typeof farEndSchema>;

/** Default settings: the far end answers at once and is silent. */
export const USUAL_FAR_END: FarEndSettings = farEndSchema.parse({});

/** The samples of `wav` at the rate of the network. Throws `WaveError`. */
export function wavSamplesOf(wav: string): Int16Array {
  return samplesOfWav(isAbsolute(wav) ? fileAt(wav) : Buffer.from(wav, 'base64'));
}

function fileAt(path: string): Buffer {
  try {
    if (statSync(path).size > WAV_BYTES_MAX) throw new WaveError(`longer than ${WAV_BYTES_MAX} bytes`);
    return readFileSync(path);
  } catch (error) {
    if (error instanceof WaveError) throw error;
    throw new WaveError(`cannot be read: ${messageOf(error)}`);
  }
}
