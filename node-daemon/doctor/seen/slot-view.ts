// The facts of one slot that the checks use, and the answers of its modem.
import type { ShownSlot } from '../../host/shown-slots.ts';
import type { ModemProfile } from '../../profiles/profile.ts';
import type { Place } from '../../slot/place.ts';
import type { UsbDevice } from '../../usb/usb-device.ts';
import type { DeviceNode } from './device-node.ts';
import type { UsbAttributes } from './usb-attributes.ts';

/** An answer as the modem gave it. */
export interface ModemAnswer {
  /** Information responses. */
  readonly lines: readonly string[];
  /** The final result code: "OK", "ERROR", "+CME ERROR: 10". */
  readonly final: string;
}

/** Sends a modem one command line. Rejects if no answer comes. */
export type AskModem = (command: string) => Promise<ModemAnswer>;

/** All answers of one modem. */
export class ModemView {
  readonly profile: ModemProfile;
  /** Queries without an answer, and whether the last one that the modem got is among them. */
  readonly unanswered: readonly string[];
  readonly isMute: boolean;
  /** Why the later queries were not made. */
  readonly notAsked: string | undefined;
  readonly #answers: ReadonlyMap<string, ModemAnswer>;

  constructor(
    profile: ModemProfile,
    answers: ReadonlyMap<string, ModemAnswer>,
    {
      unanswered = [],
      isMute = false,
      notAsked,
    }: { unanswered?: readonly string[]; isMute?: boolean; notAsked?: string } = {},
  ) {
    this.profile = profile;
    this.unanswered = unanswered;
    this.isMute = isMute;
    this.notAsked = notAsked;
    this.#answers = answers;
  }

  /** Returns the lines before "OK". Empty if the modem refused the command or was not asked. */
  lines(command: string): readonly string[] {
    const answer = this.#answers.get(command);
    return answer?.final === 'OK' ? answer.lines : [];
  }

  /** Returns the last line with this prefix. Earlier ones are URCs. */
  line(command: string, prefix: string): string | undefined {
    return this.lines(command).findLast((line) => line.startsWith(prefix));
  }

  /** Returns the first line of an answer without a prefix, or with one such as "+CGMM: ", which it removes. */
  text(command: string): string | undefined {
    const text = this.lines(command)[0]
      ?.replace(/^\+[A-Z]+: ?/, '')
      .replaceAll('"', '')
      .trim();
    return text === '' ? undefined : text;
  }

  /** Returns the number of +CME ERROR; `undefined` for any other answer. */
  cmeError(command: string): number | undefined {
    const code = /^\+CME ERROR: ?(\d+)$/.exec(this.#answers.get(command)?.final ?? '')?.[1];
    return code === undefined ? undefined : Number(code);
  }
}

/** The audio that came from the audio port without a call, or the reason why doctor did not listen. */
export type HeardAudio =
  | { readonly kind: 'heard'; readonly octets: Uint8Array }
  | { readonly kind: 'not_heard'; readonly why: string };

/** The result of playing a tone into the modem while its audio loop was on. */
export type LoopResult =
  | { readonly kind: 'back' | 'silence' | 'noise' }
  | { readonly kind: 'not_done'; readonly why: string };

/** Why there are no answers. `wasTried`: doctor or the daemon tried to reach the modem. */
export interface NoAnswers {
  readonly why: string;
  readonly wasTried: boolean;
  /** Whether the modem should have answered: the rack uses it, and could be asked. */
  readonly wasExpected?: boolean;
}

/** `modem`: the answers, or why there are none. */
export interface SlotView {
  readonly name: string;
  /** The slot as the rack reports it; `undefined` for a device that the rack does not use. */
  readonly slot: ShownSlot | undefined;
  readonly device: UsbDevice | undefined;
  readonly place: Place | undefined;
  readonly usb: UsbAttributes | undefined;
  /** All devices on the same hub, this one included. */
  readonly onHub: readonly UsbAttributes[];
  /** The existing device files of its command and audio ports. */
  readonly nodes: readonly DeviceNode[];
  readonly modem: ModemView | NoAnswers;
  readonly audio: HeardAudio;
  readonly loop: LoopResult;
  /** Sample rates of its sound card, Hz; `undefined` if it has none or does not report them. */
  readonly cardRatesHz: readonly number[] | undefined;
  /** The file that resets its USB device, where the configuration has the daemon do so. */
  readonly resetFile?: DeviceNode | undefined;
  /** The existing device files of its sound card. */
  readonly cardNodes: readonly DeviceNode[];
}

/** Returns the answers, or `undefined` if there are none. */
export function answersOf({ modem }: SlotView): ModemView | undefined {
  return 'profile' in modem ? modem : undefined;
}

/** Returns the ports that the configuration names and that do not exist. */
export function missingPorts({ device, nodes, place }: SlotView): readonly string[] {
  if (device !== undefined) return [];
  return (place?.ports ?? []).filter((port) => !nodes.some(({ path }) => path === port));
}
