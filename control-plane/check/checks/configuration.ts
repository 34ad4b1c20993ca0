// Does the configuration contain all that the service needs, without a contradiction?
import { systemClock } from '#shared/clock.ts';
import { ok, problem } from '#shared/operator/findings.ts';
import { alertChannelsOf } from '../../alerts/alert-channels.ts';
import { checkBusOptions } from '../../config/bus-options.ts';
import { mailSettingsOf } from '../../config/mail-options.ts';
import { paymentNetworksOf } from '../../config/payments-file.ts';
import { relayerKeysOf } from '../../config/relayer-options.ts';
import { type Check, type CheckedSettings, firstLineOf } from './check.ts';

export const configuration = ({ config }: CheckedSettings): Check => ({
  check: 'configuration',
  chain: null,
  async run() {
    // As the service does before it starts.
    const rules = [
      () => checkBusOptions(config),
      () => paymentNetworksOf(config, relayerKeysOf(config)),
      () => mailSettingsOf(config),
      () => alertChannelsOf(config, systemClock),
    ];
    const problems = new Set(rules.flatMap((rule) => problemOf(rule)));
    if (problems.size === 0) return ok('complete');
    return problem(
      [...problems].join('; '),
      'The service does not start with this configuration. Set the options that are named.',
    );
  },
});

function problemOf(rule: () => unknown): string[] {
  try {
    rule();
    return [];
  } catch (error) {
    return [firstLineOf(error)];
  }
}
