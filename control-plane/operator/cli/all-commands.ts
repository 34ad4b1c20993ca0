// The operator's commands. The start of a program is most of the time that a command takes, so it loads only the commands that begin as the
// one that was given.
import type { AnyCommand } from '#shared/process/commands.ts';

type Load = () => Promise<readonly AnyCommand[]>;

const loadNodes: Load = async () => (await import('./node-commands.ts')).NODE_COMMANDS;
const loadBackups: Load = async () => (await import('./backup-commands.ts')).BACKUP_COMMANDS;

/** By the first word of a command, in the order of `--help`. */
const BY_FIRST_WORD: ReadonlyMap<string, Load> = new Map([
  ['node', loadNodes],
  ['prune', loadNodes],
  ['slot', async () => (await import('./slot-commands.ts')).SLOT_COMMANDS],
  ['number', async () => (await import('./number-commands.ts')).NUMBER_COMMANDS],
  ['fleet', async () => (await import('./fleet-commands.ts')).FLEET_COMMANDS],
  ['report', async () => (await import('./report-commands.ts')).REPORT_COMMANDS],
  ['subscription', async () => (await import('./subscription-commands.ts')).SUBSCRIPTION_COMMANDS],
  ['payment', async () => (await import('./payment-commands.ts')).PAYMENT_COMMANDS],
  ['relayer', async () => (await import('./relayer-commands.ts')).RELAYER_COMMANDS],
  ['probe', async () => (await import('./probe-commands.ts')).PROBE_COMMANDS],
  ['alert', async () => (await import('./alert-commands.ts')).ALERT_COMMANDS],
  ['audit', async () => (await import('./operator-commands.ts')).AUDIT_COMMANDS],
  ['backup', loadBackups],
  ['restore', loadBackups],
  ['operator', async () => (await import('./operator-commands.ts')).OPERATOR_COMMANDS],
  ['check', async () => [(await import('../../check/check-command.ts')).CHECK_COMMAND]],
] as const);

/** The commands that begin with `word`; all of them if none does. */
export async function commandsFor(word: string | undefined): Promise<AnyCommand[]> {
  const load = BY_FIRST_WORD.get(word ?? '');
  const loads = load === undefined ? [...new Set(BY_FIRST_WORD.values())] : [load];
  return (await Promise.all(loads.map((each) => each()))).flat();
}
