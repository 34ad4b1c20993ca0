// A make of modems: the data of its model and the commands that only it has.
import type { Behaviour } from '../behaviours/behaviour.ts';
import type { ModemModel } from '../equipment/modem-model.ts';

/** Makes that a rack can have. */
export const MAKE_NAMES = ['quectel', 'simcom', 'huawei', 'huawei-e303', 'generic'] as const;
/** The name of a make. */
export type MakeName = (typeof MAKE_NAMES)[number];

/** One make. */
export interface Make extends ModemModel {
  name: MakeName;
  /** Its own commands. They come before the common ones. */
  behaviours: readonly Behaviour[];
}
