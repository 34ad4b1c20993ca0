// The gate in front of commands about messages: a SIM that can be read.
import { CommandRefused, cms } from '../modem/answer.ts';
import type { CommandContext } from '../modem/behaviour.ts';

/** Throws `CommandRefused` with the state of the SIM. */
export function requireMessaging({ modem }: CommandContext): void {
  const code = modem.simCard.cmsCode;
  if (code !== undefined) throw new CommandRefused(cms(code));
}
