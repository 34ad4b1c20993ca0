// Decides what a modem needs for calls on the network of its card, and what to send it. Pure.
import { US_NETWORKS } from '#shared/carriers/us-networks.ts';
import type { VoiceSettings } from '#shared/link/slot.ts';
import type { CarrierSettings } from '../../config/node-config.ts';
import type { VoiceSettingsRecord } from '../../journal/record.ts';
import type { ModemProfile } from '../../profiles/profile.ts';
import type {
  NetworkNeeds,
  SettingAnswers,
  SettingName,
  VoiceSetting,
} from '../../profiles/voice-setting.ts';

/** Mobile country codes of North America, whose mobile network codes have three digits (ITU-T E.212 annex A). */
const THREE_DIGITS = /^3(0[2-9]|1[0-6]|3[0-9]|4[0-9]|5[0-9]|6[0-9])/;
const DETAIL_LENGTH_MAX = 200;

/** Returns the code of the card's network, MCC and MNC. */
export const homeNetworkOf = (imsi: string): string => imsi.slice(0, THREE_DIGITS.test(imsi) ? 6 : 5);

/** The needs of a network, and whether the daemon may change it. `undefined`: nothing is known about this make on this network. */
export function needsOf(
  profile: ModemProfile,
  network: string,
  { applies, networks }: CarrierSettings,
): { needs: NetworkNeeds; mayApply: boolean } | undefined {
  const own = networks.get(network);
  const known = profile.networks?.[US_NETWORKS.get(network) ?? ''];
  if (known === undefined && own === undefined) return undefined;
  const { carrierProfile, ims, imsApn } = own ?? {};
  return {
    needs: {
      ...known,
      ...(carrierProfile === undefined ? {} : { carrierProfiles: [carrierProfile] }),
      ...(ims === undefined ? {} : { ims }),
      ...(imsApn === undefined ? {} : { imsApn }),
    },
    mayApply: own?.applies ?? applies,
  };
}

/** A setting that differs. */
interface Difference {
  readonly name: SettingName;
  readonly text: string;
}

/** The commands of one setting. */
interface Change {
  readonly name: SettingName;
  readonly commands: readonly string[];
  readonly undo: readonly string[];
}

export interface VoicePlan {
  readonly differences: readonly Difference[];
  /** Names of settings that the firmware cannot have. */
  readonly impossible: readonly SettingName[];
  /** The settings that are left to send, in order; none of it was sent for this card before. */
  readonly changes: readonly Change[];
  readonly needsRestart: boolean;
}

/** A daemon that was killed while it sent the commands sends them again. */
const ATTEMPTS_MAX = 3;

/** `before`: what was sent to this modem for this card and these needs. A command is sent once, and the modem is restarted once. */
export function planOf(
  settings: readonly VoiceSetting[],
  answers: SettingAnswers,
  needs: NetworkNeeds,
  before: Pick<VoiceSettingsRecord, 'attempts' | 'sent' | 'restarted'> | undefined,
): VoicePlan {
  const judged = settings.flatMap(({ name, judge }) => {
    const each = judge(answers, needs);
    return each === undefined || each.kind === 'right' ? [] : [{ name, ...each }];
  });
  const wrong = judged.flatMap((each) => (each.kind === 'wrong' ? [each] : []));
  const sent = before?.sent ?? [];
  const hasRestarted = before?.restarted === true;
  const isWornOut = (before?.attempts ?? 0) >= ATTEMPTS_MAX;
  // The same change again would not help: the modem does not keep it.
  const fresh = wrong.filter(
    ({ commands, needsRestart }) =>
      !isWornOut && !(needsRestart && hasRestarted) && !commands.some((command) => sent.includes(command)),
  );
  const later = fresh.flatMap((each) => each.before ?? []);
  const now = fresh.filter(({ name }) => !later.includes(name));
  return {
    differences: judged.map(({ name, has, wants }) => ({ name, text: `${name}: ${has}, not ${wants}` })),
    impossible: judged.flatMap(({ kind, name }) => (kind === 'impossible' ? [name] : [])),
    changes: now.map(({ name, commands, undo }) => ({ name, commands, undo })),
    needsRestart: now.some(({ needsRestart }) => needsRestart),
  };
}

/** The report of a slot. `why` the settings still differ. */
export function voicePlanReportOf(
  network: string,
  { differences }: Pick<VoicePlan, 'differences'>,
  why: VoiceSettings['why'],
): VoiceSettings {
  if (differences.length === 0) return { network, state: 'right', why: null, detail: null };
  const detail = differences.map(({ text }) => text).join('; ');
  return { network, why, state: 'differs', detail: detail.slice(0, DETAIL_LENGTH_MAX) };
}
