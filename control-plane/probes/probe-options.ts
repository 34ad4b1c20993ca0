// The service's options about delivery probes.
import { booleanOption, integerOption, optionalInteger } from '#shared/process/options.ts';

export const PROBE_OPTIONS = {
  probeMinutes: {
    env: 'PROBE_MINUTES',
    about: 'minutes between two texts of each spare SIM to another one; unset means that none are sent',
    schema: optionalInteger(1, 10_080).optional(),
  },
  probeCalls: {
    env: 'PROBE_CALLS',
    about: 'whether spare SIMs call each other, too',
    schema: booleanOption,
  },
  probeTimeoutMs: {
    env: 'PROBE_TIMEOUT_MS',
    about: 'time after which such a text counts as lost',
    schema: integerOption(1_000, 3_600_000, 120_000),
  },
} as const;
