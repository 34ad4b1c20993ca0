// Why a node refuses a command. A refused command was never tried: no part of it reached a modem.
import * as z from 'zod';

export const COMMAND_ERROR_CODES = [
  'command_unknown',
  'params_invalid',
  /** The time in which the command was worth doing is over; it was not tried and never will be. */
  'deadline_passed',
  /** No slot of this node holds the SIM. */
  'sim_absent',
  /** The slot that holds the SIM cannot serve it now: modem lost, SIM locked, not registered. */
  'slot_unavailable',
  /** A queue of the slot is full. */
  'slot_busy',
  /** The operator's limit for this SIM or this recipient is reached. */
  'rate_limited',
  /** The node's operator does not allow the number to be texted or called. Since version 3. */
  'destination_not_allowed',
  /** The node cannot write its journal; it takes no command that it could not remember. */
  'journal_unavailable',
  /** The SIM has a call already. Since version 3. */
  'line_busy',
  /** No call with this id is up, or none that rings where one is to be answered. Since version 3. */
  'call_unknown',
] as const;

export const commandErrorCodeSchema = z.enum(COMMAND_ERROR_CODES);
export type CommandErrorCode = z.infer<typeof commandErrorCodeSchema>;
