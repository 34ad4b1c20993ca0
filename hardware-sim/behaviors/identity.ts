// Manufacturer, model, revision and IMEI (3GPP TS 27.007 §5). The model has the answers.
import { ok } from '../at/answer.ts';
import type { ModemModel } from '../equipment/modem-model.ts';
import { type CommandHandler, commandFamily, forms } from './behavior.ts';

/** Commands that answer one line when executed, and OK when tested. */
function answering(line: (model: ModemModel) => string): CommandHandler {
  return forms({ execute: (_, { equipment }) => ok(line(equipment.model)) });
}

const manufacturer = answering(({ manufacturer }) => manufacturer);
const model = answering((modem) => modem.model);
const revision = answering(({ revisionPrefix, revision }) => revisionPrefix + revision);

const imei = forms({
  execute: (_, { equipment }) => ok(equipment.imei),
  /** AT+CGSN=1 asks for the IMEI by name. */
  set: ({ value }, { equipment }) => (value === '1' ? ok(`+CGSN: "${equipment.imei}"`) : { kind: 'error' }),
});

/** Maker, model, revision, IMEI. */
export const identity = commandFamily('identity', {
  I: ({ value }, { equipment }) =>
    /^0?$/.test(value) ? ok(...equipment.model.information(equipment.imei)) : { kind: 'error' },
  '+CGMI': manufacturer,
  '+GMI': manufacturer,
  '+CGMM': model,
  '+GMM': model,
  '+CGMR': revision,
  '+GMR': revision,
  '+CGSN': imei,
  '+GSN': imei,
});
