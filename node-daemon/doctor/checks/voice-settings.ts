// Check of the settings for calls on the network of the card, as the session with the modem read them.
import { shownCarrier } from '#shared/carriers/carrier-name.ts';
import { ok, skipped, warning } from '#shared/operator/findings.ts';
import type { SlotCheck } from './check.ts';

const BY_HAND =
  'Set it by hand (see docs/operators/carrier-settings.md), or name other values under carrier_settings in the configuration file.';

/** By the reason why they differ. */
const ADVICE: Readonly<Record<string, string>> = {
  off: 'The configuration switches it off. Set apply under carrier_settings, or set the modem up by hand.',
  not_applied: 'The daemon changes it when it runs: start the daemon.',
  unknown_to_firmware: `The firmware does not have it. Update the firmware, or choose a profile that it has (AT+QMBNCFG="List"). ${BY_HAND}`,
  not_kept: `The modem does not keep it; the daemon does not try again. Restart the modem. ${BY_HAND}`,
  refused: `The modem refused it; the daemon does not try again. Update the firmware. ${BY_HAND}`,
  call: 'The daemon changes it after the call.',
  recent_restart: 'The daemon changes it ten minutes after the last restart.',
  restart: 'The daemon restarts the modem for it once no call is up.',
  journal_unavailable:
    'The daemon changes nothing that its journal cannot record. Free disk space on the host.',
};

/** Does the modem have the settings that calls on its card's network need? */
export const voiceSettings: SlotCheck = ({ slot }) => {
  const settings = slot?.voice_settings;
  if (settings == null) return skipped('no settings are known for this make on the network of the card');
  const { detail, network, state, why } = settings;
  if (state === 'right') return ok(`as ${shownCarrier(network)} needs them`);
  return warning(`${detail ?? 'differ'} (${shownCarrier(network)})`, ADVICE[why ?? ''] ?? BY_HAND);
};
