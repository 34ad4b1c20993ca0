// Words for the settings of a modem for calls, as its daemon read them back.
import type { VoiceSettings } from '../link/slot.ts';

/** "yes", or why not: "no (refused)". */
export const callSettingsText = ({ state, why }: VoiceSettings): string =>
  state === 'right' ? 'yes' : `no (${why ?? 'unknown'})`;

/** With what differs: "no: carrier_profile: ROW_Generic_3GPP, not Commercial-TMO_VoLTE". */
export const callSettingsDetail = (settings: VoiceSettings): string =>
  settings.state === 'right' || settings.detail === null
    ? callSettingsText(settings)
    : `no: ${settings.detail}`;
