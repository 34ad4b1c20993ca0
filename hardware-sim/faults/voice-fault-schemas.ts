// The faults of calls and of their voice that a modem can play, as data.
import * as z from 'zod';
import { count, durationMs, faultsOf } from './fault-fields.ts';

const direction = z.enum(['to_host', 'from_host']);

/** Faults of calls. */
const CALL_FAULTS = faultsOf({
  /** The modem accepts `ATD`, but the call keeps dialing until it is hung up. The network never sees it. */
  dial_stuck: { count },
  /** The lines that report the answer come before the `OK` of `ATD`. */
  connect_early: { count },
  /** A call ends without a line. It only disappears from `+CLCC`. */
  call_end_lost: { count },
  /** A command that hangs up answers `error`, or never answers. With `ends` false, the call continues. */
  hangup_fails: {
    answer: z.enum(['nothing', 'error']).default('nothing'),
    ends: z.boolean().default(true),
    count,
  },
  /** The first `RING` comes without `+CLIP`. */
  clip_late: { count },
  /** `+CLCC` also lists a data bearer, as on LTE. */
  clcc_data_line: { duration_ms: durationMs },
});

/** Faults of the voice between modem and host. */
const AUDIO_FAULTS = faultsOf({
  /** The clock of the modem runs fast by this many parts per million; slow if negative. */
  pcm_drift: { ppm: z.int().min(-50_000).max(50_000), duration_ms: durationMs },
  /** Each frame is late by a random time up to this. */
  pcm_jitter: { ms: z.int().min(1).max(500), duration_ms: durationMs },
  /** One octet of the audio is lost. */
  pcm_byte_shift: { direction, count },
  /** GNSS is on: its sentences appear between the samples, until `AT+QGPSCFG="outport","none"`. */
  nmea_in_pcm: { every_ms: z.int().min(20).max(60_000).default(1000), duration_ms: durationMs },
  /** One direction carries only silence. */
  one_way_audio: { silent: direction, duration_ms: durationMs },
  /** The modem writes no samples to the host, or reads none from it. */
  pcm_stall: { direction, duration_ms: durationMs },
  /** The command that switches the audio on is refused. */
  pcm_refused: { count },
  /** Every call after the first is silent until a restart, unless the audio is switched on a second time. */
  second_call_silent: {},
  /** The samples have another rate than the settings say. */
  wrong_rate: { sample_rate_hz: z.literal([8000, 16_000]), duration_ms: durationMs },
});

/** They leave messages alone. */
export const VOICE_FAULTS = { ...CALL_FAULTS, ...AUDIO_FAULTS } as const;
