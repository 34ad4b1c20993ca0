// The service's options about delivery probes.
import { booleanOption, integerOption, optionalInteger } from '#shared/process/options.ts';

export const PROBE_OPTIONS = {
  probeMinutes: {
    env: 'PROBE_MINUTES',
    about: 'Interval at which each spare SIM texts another spare SIM; unset: no probes',
    schema: optionalInteger(1, 10_080).optional(),
  },
  probeCalls: {
    env: 'PROBE_CALLS',
    about: 'Let spare SIMs also call each other',
    schema: booleanOption,
  },
  probeTimeoutMs: {
    env: 'PROBE_TIMEOUT_MS',
    about: 'Time after which a probe text counts as lost',
    schema: integerOption(1_000, 3_600_000, 120_000),
  },
  probeSoldHours: {
    env: 'PROBE_SOLD_HOURS',
    about:
      'Interval at which each sold number without other texts gets one from a spare SIM, which its subscriber does not see; unset: none',
    schema: optionalInteger(24, 720).optional(),
  },
} as const;
