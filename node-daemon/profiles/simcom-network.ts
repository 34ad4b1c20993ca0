// The needs of SIMCom's SIM7500 and SIM7600 for calls on the networks of the USA. These have no 2G and 3G any more.
//
// Source: the SIM7500_SIM7600 AT command manual. It documents no command that turns calls over LTE on: the firmware decides by the network
// (github.com/Xinyuan-LilyGO/T-SIM7600X/issues/81, /104). Not tried on hardware by us.
import { fieldsOf } from '../at/fields.ts';
import { IMS_CONTEXT, type NetworkNeeds, type VoiceSetting } from './voice-setting.ts';

const NEEDS: NetworkNeeds = { lte: true, imsApn: 'ims' };

/** By the carrier's name in shared/carriers. */
export const SIMCOM_NETWORKS: Readonly<Record<string, NetworkNeeds>> = {
  'AT&T': NEEDS,
  'T-Mobile': NEEDS,
  Verizon: NEEDS,
  UScellular: NEEDS,
};

const MODE = 'AT+CNMP?';
const AUTOMATIC = '2';
/** Automatic; LTE alone, with 2G and 3G, with 2G, with 3G. */
const WITH_LTE: ReadonlySet<string> = new Set([AUTOMATIC, '38', '39', '51', '54']);

/** The technologies that the modem searches for. It stores the mode by itself, and uses it at once. */
const RADIO_MODE: VoiceSetting = {
  name: 'radio_mode',
  queries: [MODE],
  judge(answers, { lte }) {
    const [mode] = fieldsOf(answers.get(MODE)?.[0] ?? '');
    if (lte !== true || mode === undefined || !/^\d{1,3}$/.test(mode)) return undefined;
    if (WITH_LTE.has(mode)) return { kind: 'right' };
    const compared = { has: `mode ${mode}, without LTE`, wants: 'automatic' };
    return { kind: 'wrong', ...compared, commands: [`AT+CNMP=${AUTOMATIC}`], undo: [], needsRestart: false };
  },
};

export const SIMCOM_SETTINGS: readonly VoiceSetting[] = [RADIO_MODE, IMS_CONTEXT];
