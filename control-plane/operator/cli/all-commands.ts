// The operator's commands, in the order of `--help`.
import { CHECK_COMMAND } from '../../check/check-command.ts';
import { ALERT_COMMANDS } from './alert-commands.ts';
import { BACKUP_COMMANDS } from './backup-commands.ts';
import { FLEET_COMMANDS } from './fleet-commands.ts';
import { NODE_COMMANDS } from './node-commands.ts';
import { NUMBER_COMMANDS } from './number-commands.ts';
import { AUDIT_COMMANDS, OPERATOR_COMMANDS } from './operator-commands.ts';
import { PAYMENT_COMMANDS } from './payment-commands.ts';
import { PROBE_COMMANDS } from './probe-commands.ts';
import { RELAYER_COMMANDS } from './relayer-commands.ts';
import { REPORT_COMMANDS } from './report-commands.ts';
import { SLOT_COMMANDS } from './slot-commands.ts';
import { SUBSCRIPTION_COMMANDS } from './subscription-commands.ts';

export const COMMANDS = [
  ...NODE_COMMANDS,
  ...SLOT_COMMANDS,
  ...NUMBER_COMMANDS,
  ...FLEET_COMMANDS,
  ...REPORT_COMMANDS,
  ...SUBSCRIPTION_COMMANDS,
  ...PAYMENT_COMMANDS,
  ...RELAYER_COMMANDS,
  ...PROBE_COMMANDS,
  ...ALERT_COMMANDS,
  ...AUDIT_COMMANDS,
  ...BACKUP_COMMANDS,
  ...OPERATOR_COMMANDS,
  CHECK_COMMAND,
];
