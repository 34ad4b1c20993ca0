// Who made the modem and which one it is (3GPP TS 27.007 §5). The make says what they answer.
import type { Make } from '../makes/make.ts';
import { ok } from '../modem/answer.ts';
import { type CommandHandler, commandFamily, forms } from '../modem/behaviour.ts';

/** Commands that answer one line when executed, and OK when tested. */
function answering(line: (make: Make) => string): CommandHandler {
  return forms({ execute: (_, { modem }) => ok(line(modem.make)), test: () => ok() });
}

const manufacturer = answering((make) => make.manufacturer);
const model = answering((make) => make.model);
const revision = answering((make) => make.revisionPrefix + make.revision);

const imei = forms({
  execute: (_, { modem }) => ok(modem.imei),
  /** AT+CGSN=1 asks for the IMEI by name. */
  set: ({ value }, { modem }) => (value === '1' ? ok(`+CGSN: "${modem.imei}"`) : { kind: 'error' }),
  test: () => ok(),
});

/** Maker, model, revision, IMEI. */
export const identity = commandFamily('identity', {
  I: ({ value }, { modem }) =>
    /^0?$/.test(value) ? ok(...modem.make.information(modem.imei)) : { kind: 'error' },
  '+CGMI': manufacturer,
  '+GMI': manufacturer,
  '+CGMM': model,
  '+GMM': model,
  '+CGMR': revision,
  '+GMR': revision,
  '+CGSN': imei,
  '+GSN': imei,
});
