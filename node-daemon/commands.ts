// The commands of node-daemon besides the daemon, in the order of `--help`.
import { SIMULATE_COMMAND } from './daemon/simulate-command.ts';
import { DOCTOR_COMMAND } from './doctor/doctor-command.ts';
import { ENROL_COMMAND } from './link/enrol-command.ts';
import { AT_COMMAND } from './operator/at-command.ts';
import { LIST_COMMAND } from './operator/list-command.ts';
import { LOGS_COMMAND } from './operator/logs-command.ts';
import { SEND_COMMAND } from './operator/send-command.ts';
import { SMS_COMMAND } from './operator/sms-command.ts';
import { USSD_COMMAND } from './operator/ussd-command.ts';
import { WATCH_COMMAND } from './operator/watch-command.ts';

export const COMMANDS = [
  ENROL_COMMAND,
  DOCTOR_COMMAND,
  LIST_COMMAND,
  WATCH_COMMAND,
  AT_COMMAND,
  SEND_COMMAND,
  USSD_COMMAND,
  SMS_COMMAND,
  LOGS_COMMAND,
  SIMULATE_COMMAND,
];
