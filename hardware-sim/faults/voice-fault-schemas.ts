// The faults of calls and of their voice that a modem can play, as data.
import * as z from 'zod';
import { COUNT, DURATION_MS } from './fault-fields.ts';

const direction = z.enum(['to_host', 'from_host']);

/** Faults of calls. */
const CALL_FAULTS = {
  /** The modem accepts `ATD`, but the call keeps dialing until it is hung up. The network never sees it. */
  dial_stuck: z.strictObject({ kind: z.literal('dial_stuck'), count: COUNT }),
  /** The lines that report the answer come before the `OK` of `ATD`. */
  connect_early: z.strictObject({ kind: z.literal('connect_early'), count: COUNT }),
  /** A call ends without a line. It only disappears from `+CLCC`. */
  call_end_lost: z.strictObject({ kind: z.literal('call_end_lost'), count: COUNT }),
  /** A command that hangs up answers `error`, or never answers. With `ends` false, the call continues. */
  hangup_fails: z.strictObject({
    kind: z.literal('hangup_fails'),
    answer: z.enum(['nothing', 'error']).default('nothing'),
    ends: z.boolean().default(true),
    count: COUNT,
  }),
  /** The first `RING` comes without `+CLIP`. */
  clip_late: z.strictObject({ kind: z.literal('clip_late'), count: COUNT }),
  /** `+CLCC` also lists a data bearer, as on LTE. */
  clcc_data_line: z.strictObject({ kind: z.literal('clcc_data_line'), duration_ms: DURATION_MS }),
} as const;

/** Faults of the voice between modem and host. */
const AUDIO_FAULTS = {
  /** The clock of the modem runs fast by this many parts per million; slow if negative. */
  pcm_drift: z.strictObject({
    kind: z.literal('pcm_drift'),
    ppm: z.int().min(-50_000).max(50_000),
    duration_ms: DURATION_MS,
  }),
  /** Each frame is late by a random time up to this. */
  pcm_jitter: z.strictObject({
    kind: z.literal('pcm_jitter'),
    ms: z.int().min(1).max(500),
    duration_ms: DURATION_MS,
  }),
  /** One octet of the audio is lost. */
  pcm_byte_shift: z.strictObject({ kind: z.literal('pcm_byte_shift'), direction, count: COUNT }),
  /** GNSS is on: its sentences appear between the samples, until `AT+QGPSCFG="outport","none"`. */
  nmea_in_pcm: z.strictObject({
    kind: z.literal('nmea_in_pcm'),
    every_ms: z.int().min(20).max(60_000).default(1000),
    duration_ms: DURATION_MS,
  }),
  /** One direction carries only silence. */
  one_way_audio: z.strictObject({
    kind: z.literal('one_way_audio'),
    silent: direction,
    duration_ms: DURATION_MS,
  }),
  /** The modem writes no samples to the host, or reads none from it. */
  pcm_stall: z.strictObject({ kind: z.literal('pcm_stall'), direction, duration_ms: DURATION_MS }),
  /** The command that switches the audio on is refused. */
  pcm_refused: z.strictObject({ kind: z.literal('pcm_refused'), count: COUNT }),
  /** Every call after the first is silent until a restart, unless the audio is switched on a second time. */
  second_call_silent: z.strictObject({ kind: z.literal('second_call_silent') }),
  /** The samples have another rate than the settings say. */
  wrong_rate: z.strictObject({
    kind: z.literal('wrong_rate'),
    sample_rate_hz: z.literal([8000, 16_000]),
    duration_ms: DURATION_MS,
  }),
} as const;

/** They leave messages alone. */
export const VOICE_FAULTS = { ...CALL_FAULTS, ...AUDIO_FAULTS } as const;
