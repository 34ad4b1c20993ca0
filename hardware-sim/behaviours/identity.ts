// Who made the modem and which one it is (3GPP TS 27.007 §5). Modelled on a Quectel EC25.
import { ok } from '../modem/answer.ts';
import { type CommandHandler, commandFamily, forms } from '../modem/behaviour.ts';

const MANUFACTURER = 'Quectel';
const MODEL = 'EC25';
const REVISION = 'EC25AFAR05A06M4G';

/** Commands that answer one line when executed, and OK when tested. */
function answering(line: string): CommandHandler {
  return forms({ execute: () => ok(line), test: () => ok() });
}

const imei = forms({
  execute: (_, { modem }) => ok(modem.identity.imei),
  /** AT+CGSN=1 asks for the IMEI by name. */
  set: ({ value }, { modem }) => (value === '1' ? ok(`+CGSN: "${modem.identity.imei}"`) : { kind: 'error' }),
  test: () => ok(),
});

/** Maker, model, revision, IMEI. */
export const identity = commandFamily('identity', {
  I: ({ value }) =>
    /^0?$/.test(value) ? ok(MANUFACTURER, MODEL, `Revision: ${REVISION}`) : { kind: 'error' },
  '+CGMI': answering(MANUFACTURER),
  '+GMI': answering(MANUFACTURER),
  '+CGMM': answering(MODEL),
  '+GMM': answering(MODEL),
  '+CGMR': answering(REVISION),
  '+GMR': answering(REVISION),
  '+CGSN': imei,
  '+GSN': imei,
});
