// Call control of a modem whose network carries no calls, and supplementary services (3GPP TS 27.007 §6, §7).
import { type Answer, CME, cme, ok } from '../modem/answer.ts';
import { commandFamily, forms } from '../modem/behaviour.ts';

/** Every call ends before it starts. */
const NO_CARRIER: Answer = { kind: 'result', code: 'NO CARRIER' };

const ussd = forms({
  /** Codes are answered by a service that does not exist: result 4 (§7.15). */
  set: (command, { modem }) => {
    if (command.parameters[1] !== undefined) setImmediate(() => modem.sendUrc('+CUSD: 4'));
    return ok();
  },
  read: () => ok('+CUSD: 0'),
  test: () => ok('+CUSD: (0-2)'),
});

/** Dialling, answering, hanging up, USSD. */
export const calls = commandFamily('calls', {
  D: () => NO_CARRIER,
  A: () => NO_CARRIER,
  H: ({ value }) => (/^0?$/.test(value) ? ok() : { kind: 'error' }),
  '+CHUP': forms({ execute: () => ok(), test: () => ok() }),
  '+CLCC': forms({ execute: () => ok(), test: () => ok() }),
  '+CHLD': forms({
    set: () => cme(CME.operationNotSupported),
    test: () => ok('+CHLD: (0,0x,1,1x,2,2x,3,4)'),
  }),
  '+VTS': forms({
    set: () => cme(CME.operationNotSupported),
    test: () => ok('+VTS: (0-9,*,#,A,B,C,D),(0-255)'),
  }),
  '+CCWA': forms({ set: () => ok(), read: () => ok('+CCWA: 0'), test: () => ok('+CCWA: (0,1)') }),
  '+CUSD': ussd,
});
