// Does the SIM know the centre to which messages are sent?
import { fieldsOf } from '../../../at/fields.ts';
import { ok, problem, skipped } from '../../finding.ts';
import { modemCheck } from '../check.ts';

export const serviceCentre = modemCheck((modem) => {
  const line = modem.line('AT+CSCA?', '+CSCA:');
  if (line === undefined) return skipped('the modem does not tell (AT+CSCA?)');
  if ((fieldsOf(line)[0] ?? '') !== '') return ok('set');
  return problem(
    'no service centre is set: nothing can be sent',
    'the carrier tells its number: AT+CSCA="+…",145',
  );
});
