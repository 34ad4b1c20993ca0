// The examined facts of one slot from the outside and the inside, before any judgment.
import type { Slot } from '#shared/link/messages.ts';
import type { Place } from '../../modem/place/place.ts';
import type { UsbDevice } from '../../usb/usb-device.ts';
import type { DeviceNode } from './device-node.ts';
import type { ModemView } from './modem-view.ts';
import type { UsbAttributes } from './usb-attributes.ts';

/** Audio that came out of an audio port without a call, or the reason why doctor did not listen. */
export type HeardAudio =
  | { readonly kind: 'heard'; readonly octets: Uint8Array }
  | { readonly kind: 'not_heard'; readonly why: string };

/** The result of a tone that was played into the modem while it was to give it back. */
export type LoopResult =
  | { readonly kind: 'back' | 'silence' | 'noise' }
  | { readonly kind: 'not_done'; readonly why: string };

/** Why there are no answers; `wasTried`: it was asked, or its port opened, in vain. */
export interface NoAnswers {
  readonly why: string;
  readonly wasTried: boolean;
}

/** `modem`: why there are no answers, or all of them. */
export interface SlotView {
  readonly name: string;
  /** The slot as the rack reports it; `undefined` for a device that it does not use. */
  readonly slot: Slot | undefined;
  readonly device: UsbDevice | undefined;
  readonly place: Place | undefined;
  readonly usb: UsbAttributes | undefined;
  /** All devices on the same hub, this one included. */
  readonly onHub: readonly UsbAttributes[];
  /** Device files of its ports for commands that are there. */
  readonly nodes: readonly DeviceNode[];
  readonly modem: ModemView | NoAnswers;
  readonly audio: HeardAudio;
  readonly loop: LoopResult;
  /** The rates of its sound card, Hz; `undefined` where there is none, or it does not report them. */
  readonly cardRatesHz: readonly number[] | undefined;
  /** Device files of its sound card that are there. */
  readonly cardNodes: readonly DeviceNode[];
}

/** The answers, where there are any. */
export function answersOf({ modem }: SlotView): ModemView | undefined {
  return 'profile' in modem ? modem : undefined;
}
