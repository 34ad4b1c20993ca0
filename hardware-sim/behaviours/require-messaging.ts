// The gate in front of commands about messages: a SIM that can be read, in a modem that has started.
import { CMS, CommandRefused, cms } from '../modem/answer.ts';
import type { CommandContext } from '../modem/behaviour.ts';
import { cmsCodeOf } from '../modem/sim-card.ts';

/** Throws `CommandRefused` with the state of the SIM. */
export function requireMessaging({ modem }: CommandContext): void {
  const code = cmsCodeOf(modem.sim.state);
  if (code !== undefined) throw new CommandRefused(cms(code));
  // Some seconds after the start the card is ready and its messages are not read yet.
  if (!modem.isMessagingReady) throw new CommandRefused(cms(CMS.simBusy));
}
