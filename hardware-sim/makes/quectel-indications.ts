// Which unsolicited lines a Quectel modem sends: AT+QINDCFG.
import { CME, cme, ok } from '../at/answer.ts';
import type { AtCommand } from '../at/at-line.ts';
import type { ModemSettings } from '../at/settings.ts';
import type { CommandContext } from '../behaviours/behaviour.ts';

const INDICATIONS = ['csq', 'smsfull', 'ring', 'smsincoming', 'act', 'ccinfo'];

const keyOf = (indication: string): string => `+QINDCFG ${indication}`;

/** Whether AT+QINDCFG has switched an indication on. */
export function indicates(settings: ModemSettings, indication: string): boolean {
  const own = settings.kept.get(keyOf(indication)) ?? '0';
  return own === '1' && settings.kept.get(keyOf('all')) !== '0';
}

/** AT+QINDCFG="csq",1: which unsolicited lines come. */
export function indicationSettings(command: AtCommand, { equipment: { settings } }: CommandContext) {
  const names = INDICATIONS.map((name) => `"${name}"`).join(',');
  if (command.operation === 'test') return ok(`+QINDCFG: ("all",${names}),(0,1),(0,1)`);
  const [name, value] = command.parameters;
  if (name === undefined || !['all', ...INDICATIONS].includes(name.text)) return cme(CME.incorrectParameters);
  if (value === undefined) {
    return ok(`+QINDCFG: "${name.text}",${settings.kept.get(keyOf(name.text)) ?? '0'}`);
  }
  if (!/^[01]$/.test(value.text)) return cme(CME.incorrectParameters);
  settings.kept.set(keyOf(name.text), value.text);
  return ok();
}
