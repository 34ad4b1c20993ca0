// Contexts for packet data (3GPP TS 27.007 §10.1.1). They are in the flash memory of the modem.
import { CME, cme, ok } from '../at/answer.ts';
import { commandFamily, forms, numberParameter } from './behavior.ts';

const NAME = '+CGDCONT';
const CONTEXTS_MAX = 16;
const FIRST = '"IPV4V6","simrack","0.0.0.0",0,0';
const TYPES = ['IP', 'IPV6', 'IPV4V6', 'PPP', 'Non-IP'];

const keyOf = (id: number): string => `${NAME} ${String(id).padStart(2, '0')}`;

/** +CGDCONT. */
export const packetContexts = commandFamily('packet contexts', {
  [NAME]: forms({
    set: (command, { equipment: { flash } }) => {
      const id = numberParameter(command, 0, { min: 1, max: CONTEXTS_MAX });
      const [, type, apn = ''] = command.parameters;
      // The number alone removes the context.
      if (type === undefined) flash.set(keyOf(id), '');
      else if (!TYPES.includes(type) || !/^[\w.-]*$/.test(apn)) return cme(CME.incorrectParameters);
      else flash.set(keyOf(id), `"${type}","${apn}","0.0.0.0",0,0`);
      return ok();
    },
    read: (_, { equipment: { flash } }) => {
      const stored = new Map([[keyOf(1), FIRST], ...flash.startingWith(NAME)]);
      const lines = [...stored].filter(([, value]) => value !== '');
      return ok(...lines.map(([key, value]) => `${NAME}: ${Number(key.slice(NAME.length))},${value}`));
    },
    test: () => ok(`${NAME}: (1-${CONTEXTS_MAX}),"IPV4V6",,,(0-2),(0-4)`),
  }),
});
