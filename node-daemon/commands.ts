// The commands of node-daemon besides the daemon, in the order of `--help`.
import { CHECK_CONFIG_COMMAND } from './config/check-config-command.ts';
import { SIMULATE_COMMAND } from './daemon/simulate-command.ts';
import { DOCTOR_COMMAND } from './doctor/doctor-command.ts';
import { ENROLL_COMMAND } from './link/enroll.ts';
import { AT_COMMAND } from './operator/cli/at-command.ts';
import { LIST_COMMAND } from './operator/cli/list-command.ts';
import { LOGS_COMMAND } from './operator/cli/logs-command.ts';
import { SEND_COMMAND } from './operator/cli/send-command.ts';
import { SMS_COMMAND } from './operator/cli/sms-command.ts';
import { USSD_COMMAND } from './operator/cli/ussd-command.ts';
import { WATCH_COMMAND } from './operator/cli/watch-command.ts';

export const COMMANDS = [
  ENROLL_COMMAND,
  DOCTOR_COMMAND,
  CHECK_CONFIG_COMMAND,
  LIST_COMMAND,
  WATCH_COMMAND,
  AT_COMMAND,
  SEND_COMMAND,
  USSD_COMMAND,
  SMS_COMMAND,
  LOGS_COMMAND,
  SIMULATE_COMMAND,
];
