// The condition for commands about messages: a SIM that can be read, in a modem that has started.
import { CMS, CommandRefused, cms } from '../at/answer.ts';
import { cmsCodeOf } from '../equipment/sim-card.ts';
import type { CommandContext } from './behaviour.ts';

/** Throws `CommandRefused` with the state of the SIM. */
export function requireMessaging({ equipment }: CommandContext): void {
  const code = cmsCodeOf(equipment.sim.state);
  if (code !== undefined) throw new CommandRefused(cms(code));
  // Some seconds after the start the card is ready and its messages are not read yet.
  if (!equipment.isMessagingReady) throw new CommandRefused(cms(CMS.simBusy));
}
