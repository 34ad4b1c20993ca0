// Which modem is it, and is its make known?
import { modelOf } from '../../../modem/identity.ts';
import { GENERIC } from '../../../modem/profiles/generic.ts';
import { ok, warning } from '../../finding.ts';
import { modemCheck } from '../check.ts';

export const profile = modemCheck((modem) => {
  const model = modelOf(modem.text('AT+CGMI'), modem.text('AT+CGMM')) ?? 'a modem that tells no name';
  const firmware = modem.text('AT+CGMR') ?? 'firmware unknown';
  const seen = `${model}, ${firmware}`;
  if (modem.profile !== GENERIC) return ok(`${seen}; profile ${modem.profile.name}`);
  return warning(
    `${seen}; no profile of its own`,
    'messages work as the standard has it; calls are silent unless the slot names its audio_port. A make is added in two files: node-daemon/README.md',
  );
});
