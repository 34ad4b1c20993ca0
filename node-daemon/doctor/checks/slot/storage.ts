// Is there room for messages on SIM and modem?
import { ownCommand } from '#shared/process/own-command.ts';
import { fieldsOf, integerField } from '../../../at/fields.ts';
import { ok, problem, skipped, warning } from '../../finding.ts';
import { modemCheck } from '../check.ts';

const WARNING_SHARE = 0.8;

interface Use {
  readonly memory: string;
  readonly used: number;
  readonly total: number;
}

export const storage = modemCheck((modem) => {
  const uses = usesOf(modem.line('AT+CPMS?', '+CPMS:') ?? '');
  if (uses.length === 0) return skipped('the modem does not tell (AT+CPMS?)');
  const seen = uses.map(({ memory, used, total }) => `${memory} ${used} of ${total}`).join(', ');
  const share = Math.max(...uses.map(({ used, total }) => used / total));
  const advice = `the daemon empties it as it reads: is it running, its journal writable? What stays is not for it; "${ownCommand('node-daemon')} sms <slot>" shows it`;
  if (share >= 1) return problem(`${seen}: full, messages wait in the network`, advice);
  return share >= WARNING_SHARE ? warning(seen, advice) : ok(seen);
});

/** `+CPMS: "SM",used,total,"ME",used,total,…`: each memory once. */
function usesOf(line: string): Use[] {
  const fields = fieldsOf(line);
  const uses = new Map<string, Use>();
  for (let position = 0; position + 2 < fields.length; position += 3) {
    const memory = fields[position] ?? '';
    const used = integerField(fields, position + 1);
    const total = integerField(fields, position + 2);
    if (used !== undefined && total !== undefined && total > 0) uses.set(memory, { memory, used, total });
  }
  return [...uses.values()];
}
