// The parts of a procedure, and how it finds its modem.
import * as z from 'zod';
import { OperatorError } from '#shared/operator/operator-error.ts';
import type { Audit, Caller, Json, Procedure } from '#shared/operator/procedure.ts';
import { closest } from '#shared/process/suggestion.ts';
import type { Host } from '../../host/host.ts';
import type { CommandHandler } from '../../link/command-handler.ts';
import type { Modem } from '../../modem/modem.ts';
import type { ModemSession } from '../../modem/session.ts';
import type { SentBefore } from './sent-before.ts';

/** A search of all networks takes three minutes. */
export const TIMEOUT_MS_MAX = 180_000;

export const slotField = z.string().min(1).max(64);
export const timeoutField = z.int().min(100).max(TIMEOUT_MS_MAX).optional();

export interface Context {
  readonly host: Host;
  readonly commands: Pick<CommandHandler, 'handle'>;
  readonly sentBefore: SentBefore;
  readonly caller: Caller;
}

export interface DaemonProcedure<I extends z.ZodType, O extends z.ZodType> extends Procedure<Context, I, O> {
  /** For a procedure that changes something. `isChange`: whether it does, with this input; always without it. */
  readonly audit?: Audit<z.output<I>, Json<z.output<O>>> & { isChange?(input: z.output<I>): boolean };
}

/** Checks the types of a procedure where it is defined. */
export const procedure = <I extends z.ZodType, O extends z.ZodType>(
  definition: DaemonProcedure<I, O>,
): DaemonProcedure<I, O> => definition;

/** Throws `OperatorError` where there is no such slot, or no modem in it. */
export function modemIn({ host: { rack } }: Context, name: string): Modem {
  const modem = rack.inSlot(name);
  if (modem !== undefined) return modem;
  const slots = rack.slots();
  const names = slots.map(({ slot }) => slot);
  if (names.includes(name)) throw new OperatorError('unavailable', `slot ${name} has no modem`);
  // Another slot has a similar name, and the command would go to the wrong modem.
  const atPort = slots.find(({ usb_path: usbPath }) => usbPath === name);
  if (atPort !== undefined)
    throw new OperatorError('refused', `the modem in USB port ${name} is the slot "${atPort.slot}"`);
  const meant = closest(name, names);
  const known = names.length === 0 ? 'there are no slots' : `the slots are ${names.join(', ')}`;
  throw new OperatorError(
    'refused',
    `there is no slot "${name}"; ${meant === undefined ? known : `did you mean ${meant}?`}`,
  );
}

/** As `modemIn`; throws also where the modem does not answer commands now. */
export function sessionIn(context: Context, name: string): ModemSession {
  const { session } = modemIn(context, name);
  if (session === undefined) throw notInService(context, name);
  return session;
}

export function notInService(context: Context, name: string): OperatorError {
  const { state, reason } = modemIn(context, name).slot;
  return new OperatorError('unavailable', `${name} is ${state}${reason === null ? '' : ` (${reason})`}`);
}
