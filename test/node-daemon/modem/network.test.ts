// What registration, operator and signal lines say.
import t from 'tap';
import { operatorOf, parseRegistration, signalOf, slotStateOf } from '#node-daemon/modem/network.ts';

t.test('the answer to a query and the URC of the same name are told apart', async (t) => {
  t.same(parseRegistration('+CREG: 2,1,"00A1","0001",7'), { CREG: 1 });
  t.same(parseRegistration('+CREG: 0,3'), { CREG: 3 });
  t.same(parseRegistration('+CREG: 3'), { CREG: 3 });
  t.same(parseRegistration('+CEREG: 5,"00A1","0001",7'), { CEREG: 5 });
  t.same(parseRegistration('+CGREG:1,00A1,0001'), { CGREG: 1 }, 'without quotes');
  t.same(parseRegistration('+CREG: 0,10'), { CREG: 10 });
  t.equal(parseRegistration('+CSQ: 1,99'), undefined);
});

t.test('one registered domain is enough', async (t) => {
  t.equal(slotStateOf({ CREG: 3, CEREG: 1 }), 'registered', 'a VoLTE-only SIM');
  for (const stat of [1, 5, 6, 7, 9, 10]) t.equal(slotStateOf({ CREG: stat }), 'registered', String(stat));
  t.equal(slotStateOf({ CREG: 3, CEREG: 0 }), 'denied');
  t.equal(slotStateOf({ CREG: 3, CEREG: 2 }), 'searching');
  for (const stat of [0, 2, 4, 8]) t.equal(slotStateOf({ CREG: stat }), 'searching', String(stat));
  t.equal(slotStateOf({}), 'searching');
});

t.test('signal in dBm, null when it is not known', async (t) => {
  t.equal(signalOf('+CSQ: 0,99'), -113);
  t.equal(signalOf('+CSQ: 21,99'), -71);
  t.equal(signalOf('+CSQ: 31,0'), -51);
  for (const line of ['+CSQ: 99,99', '+CSQ: 150,99', '+CSQ: ', '']) t.equal(signalOf(line), null, line);
});

t.test('the operator, null when there is none', async (t) => {
  t.equal(operatorOf('+COPS: 0,2,"00101",7'), '00101');
  t.equal(operatorOf('+COPS: 0,0,"T-Mobile, US",7'), 'T-Mobile, US');
  t.equal(operatorOf('+COPS: 0'), null);
});
