// The definition of a check: a pure function from the examined facts to one outcome.
import { type Outcome, skipped } from '#shared/operator/findings.ts';
import type { LinkFailure, LinkState } from '../../link/control-link.ts';
import type { HostView } from '../seen/host-view.ts';
import { answersOf, type ModemView, type SlotView } from '../seen/slot-view.ts';

/** How the modems are asked: through a daemon that runs, or by opening the rack. */
export interface DaemonView {
  readonly isDaemonRunning: boolean;
  /** `undefined` if the daemon cannot be asked. */
  readonly link: LinkState | undefined;
  /** How the last attempt to link ended, if the daemon reports it. */
  readonly linkFailure: LinkFailure | undefined;
  /** The error in the configuration file, with its place in it. */
  readonly configurationProblem: string | undefined;
  /** Why the modems cannot be asked at all. */
  readonly problem: string | undefined;
  /** Whether `problem` itself says what to do. */
  readonly doesProblemAdvise: boolean;
  /** The advice if the data folder belongs to another program. */
  readonly wrongFolderAdvice: string | undefined;
}

/** All examined facts. */
export interface Seen {
  readonly host: HostView;
  readonly daemon: DaemonView;
  readonly slots: readonly SlotView[];
}

export type HostCheck = (seen: Seen) => Outcome;
export type SlotCheck = (slot: SlotView, seen: Seen) => Outcome;

/** Makes a check of the modem's answers. The check is skipped if the modem gave none. */
export function modemCheck(check: (modem: ModemView, slot: SlotView) => Outcome): SlotCheck {
  return (slot) => {
    const modem = answersOf(slot);
    return modem === undefined ? skipped('the modem was not queried') : check(modem, slot);
  };
}
