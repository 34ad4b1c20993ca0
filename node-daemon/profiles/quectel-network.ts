// The needs of Quectel's EC2x and EG2x for calls on the networks of the USA.
//
// Sources: the AT commands and QCFG manuals of EC2x, EG2x and EG9x; lists of +QMBNCFG that users published
// (github.com/the-modem-distro/pinephone_modem_sdk/issues/40, the PinePhone Pro's documentation); RM5xx names from
// github.com/iamromulan/cellular-modem-wiki/issues/52. None of it was tried on hardware by us: carriers also decide by the IMEI.
import { fieldsOf } from '../at/fields.ts';
import { IMS_CONTEXT, type NetworkNeeds, type SettingAnswers, type VoiceSetting } from './voice-setting.ts';

const needs = (...carrierProfiles: string[]): NetworkNeeds => ({ carrierProfiles, ims: true, imsApn: 'ims' });

/** By the carrier's name in shared/carriers. */
export const QUECTEL_NETWORKS: Readonly<Record<string, NetworkNeeds>> = {
  'AT&T': needs('VoLTE-ATT'),
  'T-Mobile': needs('Commercial-TMO_VoLTE', 'Commercial-TMO'),
  Verizon: needs('hVoLTE-Verizon', 'CDMAless-Verizon'),
  UScellular: needs('Commercial-USCC'),
};

const LIST = 'AT+QMBNCFG="List"';
const AUTO = 'AT+QMBNCFG="AutoSel"';
const IMS = 'AT+QCFG="ims"';
/** Names go back to the modem in commands. */
const PROFILE_NAME = /^[\w.+-]{1,64}$/;

interface ListedProfile {
  readonly name: string;
  readonly isSelected: boolean;
  readonly isActive: boolean;
}

/** Reads `+QMBNCFG: "List",index,selected,active,"name",version,date`. */
function listedProfiles(answers: SettingAnswers): ListedProfile[] | undefined {
  return answers.get(LIST)?.flatMap((line) => {
    const [what, , selected, active, name] = fieldsOf(line);
    if (what?.toLowerCase() !== 'list' || name === undefined || !PROFILE_NAME.test(name)) return [];
    return [{ name, isSelected: selected === '1', isActive: active === '1' }];
  });
}

/** The carrier profile (MBN) in effect. A selection takes effect at the next start, and the automatic one overrides it. */
const CARRIER_PROFILE: VoiceSetting = {
  name: 'carrier_profile',
  queries: [LIST, AUTO],
  judge(answers, { carrierProfiles = [] }) {
    const profiles = listedProfiles(answers);
    const [first] = carrierProfiles;
    if (profiles === undefined || first === undefined) return undefined;
    const byName = (name: string): ListedProfile | undefined =>
      profiles.find((each) => each.name.toLowerCase() === name.toLowerCase());
    const active = profiles.find(({ isActive }) => isActive);
    const selected = profiles.find(({ isSelected }) => isSelected);
    const has = active?.name ?? 'none';
    if (carrierProfiles.some((name) => byName(name)?.isActive === true)) return { kind: 'right' };
    const wanted = carrierProfiles.map(byName).find((each) => each !== undefined);
    if (wanted === undefined) return { kind: 'impossible', has, wants: first };
    const isAutomatic = fieldsOf(answers.get(AUTO)?.[0] ?? '')[1] === '1';
    const turnOff = isAutomatic ? ['AT+QMBNCFG="AutoSel",0'] : [];
    const select = wanted.isSelected
      ? []
      : [
          ...(selected === undefined && active === undefined ? [] : ['AT+QMBNCFG="Deactivate"']),
          `AT+QMBNCFG="Select","${wanted.name}"`,
        ];
    const former = selected ?? active;
    return {
      kind: 'wrong',
      has,
      wants: wanted.name,
      commands: [...turnOff, ...select],
      undo: [
        ...(former === undefined || wanted.isSelected ? [] : [`AT+QMBNCFG="Select","${former.name}"`]),
        ...(isAutomatic ? ['AT+QMBNCFG="AutoSel",1'] : []),
      ],
      needsRestart: true,
      // Profiles bring contexts of their own.
      before: ['ims_context'],
    };
  },
};

/** `+QCFG: "ims",<mode>,<is on>`: mode 0 leaves it to the carrier profile, 1 is on, 2 is off; in effect after a restart. */
const CALLS_OVER_LTE: VoiceSetting = {
  name: 'ims',
  queries: [IMS],
  judge(answers, { ims }) {
    const line = answers.get(IMS)?.[0];
    if (ims === undefined || line === undefined) return undefined;
    const [, mode, isOn] = fieldsOf(line);
    const wanted = ims ? '1' : '2';
    if (mode === wanted || (mode === '0' && isOn === (ims ? '1' : '0'))) return { kind: 'right' };
    return {
      kind: 'wrong',
      has: mode === '0' ? 'as the carrier profile says' : mode === '1' ? 'on' : 'off',
      wants: ims ? 'on' : 'off',
      commands: [`AT+QCFG="ims",${wanted}`],
      undo: [],
      needsRestart: true,
    };
  },
};

export const QUECTEL_SETTINGS: readonly VoiceSetting[] = [CARRIER_PROFILE, CALLS_OVER_LTE, IMS_CONTEXT];
