// The operator's tools, in the order of `--help`.
import { AT_COMMAND } from './at-command.ts';
import { LIST_COMMAND } from './list-command.ts';
import { LOGS_COMMAND } from './logs-command.ts';
import { SEND_COMMAND } from './send-command.ts';
import { SIMULATE_COMMAND } from './simulate-command.ts';
import { SMS_COMMAND } from './sms-command.ts';
import { USSD_COMMAND } from './ussd-command.ts';
import { WATCH_COMMAND } from './watch-command.ts';

export const TOOL_COMMANDS = [
  LIST_COMMAND,
  WATCH_COMMAND,
  AT_COMMAND,
  SEND_COMMAND,
  USSD_COMMAND,
  SMS_COMMAND,
  LOGS_COMMAND,
  SIMULATE_COMMAND,
];
