// The settings that calls on a carrier's network need, as data and pure judgment.
import { fieldsOf } from '../at/fields.ts';

/** The needs of one network. A missing value: leave the modem as it is. */
export interface NetworkNeeds {
  /** Names of carrier profiles in the firmware, best first. */
  readonly carrierProfiles?: readonly string[] | undefined;
  /** Calls over LTE. */
  readonly ims?: boolean | undefined;
  /** Access point of a context for IMS. */
  readonly imsApn?: string | undefined;
  /** The modem may use LTE. */
  readonly lte?: boolean | undefined;
}

/** Information responses by query. A query that the modem refused is missing. */
export type SettingAnswers = ReadonlyMap<string, readonly string[]>;

export type SettingName = 'carrier_profile' | 'ims' | 'ims_context' | 'radio_mode';

/** The value that the modem has and the one it should have, as a person reads them. */
interface Compared {
  readonly has: string;
  readonly wants: string;
}

type JudgedSetting =
  | { readonly kind: 'right' }
  /** The firmware cannot do it. */
  | ({ readonly kind: 'impossible' } & Compared)
  | ({
      readonly kind: 'wrong';
      /** In order. None if only the restart is missing. */
      readonly commands: readonly string[];
      /** If one of them is refused. */
      readonly undo: readonly string[];
      readonly needsRestart: boolean;
      /** Other settings that the restart may change too, so they are judged after it. */
      readonly before?: readonly SettingName[];
    } & Compared);

/** A setting of a make. */
export interface VoiceSetting {
  readonly name: SettingName;
  readonly queries: readonly string[];
  /** Returns `undefined` if the network does not need it, or the modem does not report it. */
  readonly judge: (answers: SettingAnswers, needs: NetworkNeeds) => JudgedSetting | undefined;
}

const CONTEXTS = 'AT+CGDCONT?';
/** Beside those that networks and firmware use first. */
const CONTEXT_IDS = [2, 3, 4, 5, 6, 7, 8];

/**
 * A context with an access point for IMS (3GPP TS 27.007 §10.1.1). Carriers name theirs "ims", "vzwims" or the like, and the modem's own is
 * never replaced. Modems with a carrier profile have one: github.com/Xinyuan-LilyGO/T-SIM7600X/issues/90 (T-Mobile),
 * github.com/vshymanskyy/TinyGSM/issues/649. Not tried on hardware: whether a network accepts one that was added by hand.
 */
export const IMS_CONTEXT: VoiceSetting = {
  name: 'ims_context',
  queries: [CONTEXTS],
  judge(answers, { imsApn }) {
    const lines = answers.get(CONTEXTS);
    if (imsApn === undefined || lines === undefined) return undefined;
    const contexts = lines.map(fieldsOf).map(([id = '', , apn = '']) => ({ id: Number(id), apn }));
    if (contexts.some(({ apn }) => /ims$/i.test(apn) || apn.toLowerCase() === imsApn.toLowerCase()))
      return { kind: 'right' };
    const compared = { has: 'no context for IMS', wants: imsApn };
    const free = CONTEXT_IDS.find((id) => !contexts.some((each) => each.id === id));
    if (free === undefined) return { kind: 'impossible', ...compared };
    const commands = [`AT+CGDCONT=${free},"IPV4V6","${imsApn}"`];
    return { kind: 'wrong', ...compared, commands, undo: [], needsRestart: false };
  },
};
