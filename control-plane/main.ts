// The control plane as a program: the service, and an operator's commands beside it.
import { helpOf, runCommand } from '#shared/process/commands.ts';
import { createLogger } from '#shared/process/logger.ts';
import { METRICS_PATH } from '#shared/process/metrics-server.ts';
import { runProgram } from '#shared/process/run.ts';
import { readConfig } from './config.ts';
import { ALERT_COMMANDS } from './operator/alert-commands.ts';
import { AUDIT_COMMANDS } from './operator/audit-commands.ts';
import { BACKUP_COMMANDS } from './operator/backup-commands.ts';
import { NODE_COMMANDS } from './operator/node-commands.ts';
import { NUMBER_COMMANDS } from './operator/number-commands.ts';
import { OPERATOR_COMMANDS } from './operator/operator-commands.ts';
import { PAYMENT_COMMANDS } from './operator/payment-commands.ts';
import { PROBE_COMMANDS } from './operator/probe-commands.ts';
import { SLOT_COMMANDS } from './operator/slot-commands.ts';
import { SUBSCRIPTION_COMMANDS } from './operator/subscription-commands.ts';

const COMMANDS = [
  ...[...NODE_COMMANDS, ...SLOT_COMMANDS, ...NUMBER_COMMANDS, ...SUBSCRIPTION_COMMANDS, ...PAYMENT_COMMANDS],
  ...[...PROBE_COMMANDS, ...ALERT_COMMANDS, ...AUDIT_COMMANDS, ...BACKUP_COMMANDS, ...OPERATOR_COMMANDS],
];

if (!(await runCommand('control-plane', COMMANDS))) {
  const config = readConfig(helpOf(COMMANDS));
  const log = createLogger('control-plane', config.logLevel);
  await runProgram(log, async () => {
    // Commands beside it need little of this.
    const { startService } = await import('./service.ts');
    const service = await startService(config, { log });
    const { consoleUrl, metricsPort: port, url } = service;
    const metrics =
      port === undefined ? {} : { metrics_url: `http://${config.metricsHost}:${port}${METRICS_PATH}` };
    const console = consoleUrl === undefined ? {} : { console_url: consoleUrl };
    process.stdout.write(`${JSON.stringify({ base_url: url, ...metrics, ...console })}\n`);
    return service;
  });
}
