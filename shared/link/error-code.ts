// Why a node refuses a command. A refused command was never tried: no part of it reached a modem.
import * as z from 'zod';

/** By code, with its meaning. */
export const COMMAND_ERRORS = {
  command_unknown: 'The node does not know this command: it is older than the control plane.',
  params_invalid: 'The parameters do not fit the command.',
  deadline_passed: 'The time limit of the command is over. The node did not try it, and never will.',
  sim_absent: 'No slot of this node has the SIM.',
  slot_unavailable: 'The slot with the SIM cannot serve it now: modem lost, SIM locked, or not registered.',
  slot_busy: 'A queue of the slot is full.',
  rate_limited:
    'The operator’s limit for this SIM or this recipient is reached; `retry_after_ms` says when another may pass.',
  destination_not_allowed: 'The operator of the node does not allow texts or calls to this number.',
  journal_unavailable: 'The node cannot write its journal, and takes no command that it could not remember.',
  line_busy: 'The SIM already has a call.',
  call_unknown: 'No call with this id is up, or none rings that could be answered.',
} as const satisfies Record<string, string>;
export type CommandErrorCode = keyof typeof COMMAND_ERRORS;
const COMMAND_ERROR_CODES = Object.keys(COMMAND_ERRORS) as [CommandErrorCode, ...CommandErrorCode[]];

export const commandErrorCodeSchema = z.enum(COMMAND_ERROR_CODES);
