// The commands beside the daemon, in the order of `--help`.
import { DOCTOR_COMMAND } from './doctor/doctor-command.ts';
import { ENROL_COMMAND } from './link/enrol-command.ts';
import { TOOL_COMMANDS } from './operator/tool-commands.ts';

export const COMMANDS = [ENROL_COMMAND, DOCTOR_COMMAND, ...TOOL_COMMANDS];
