// The meaning of registration, operator and signal lines.
import t from 'tap';
import {
  dbmOf,
  extendedSignalOf,
  operatorOf,
  parseRegistration,
  type Registration,
  serviceOf,
  signalOf,
} from '#node-daemon/modem/network/network.ts';

/** Lines of a modem, one for each domain. */
const said = (...lines: string[]): Registration => Object.assign({}, ...lines.map(parseRegistration));

t.test('the answer to a query and the URC of the same name are distinguished', async (t) => {
  t.match(parseRegistration('+CREG: 2,1,"00A1","0001",7'), { CREG: { stat: 1, place: '00A1,0001,7' } });
  t.match(parseRegistration('+CREG: 1,"00A1","0001",7'), { CREG: { stat: 1, place: '00A1,0001,7' } });
  t.match(parseRegistration('+CREG: 0,3'), { CREG: { stat: 3 } });
  t.match(parseRegistration('+CREG: 3'), { CREG: { stat: 3 } });
  t.match(parseRegistration('+CEREG: 5,"00A1","0001",7'), { CEREG: { stat: 5 } });
  t.match(parseRegistration('+CGREG:1,00A1,0001'), { CGREG: { stat: 1 } }, 'without quotes');
  t.match(parseRegistration('+CREG: 0,10'), { CREG: { stat: 10 } });
  t.match(parseRegistration('+C5GREG: 2,1,"00A1","0001",11'), { C5GREG: { stat: 1 } });
  for (const line of ['+CSQ: 1,99', '+CREG:', '+CREG: ', '+CREG: x', '+CREG: 99', '']) {
    t.equal(parseRegistration(line), undefined, line);
  }
});

t.test('the reject cause, where the modem reports one of the standard', async (t) => {
  const cause = (line: string): unknown => Object.values(parseRegistration(line) ?? {})[0]?.cause;
  // 3GPP TS 27.007 §7.2, §10.1.20, §10.1.22: [,[<lac>],[<ci>],[<AcT>][,<cause_type>,<reject_cause>]].
  t.equal(cause('+CREG: 3,3,,,,0,11'), 11);
  t.equal(cause('+CREG: 3,,,,0,11'), 11);
  t.equal(cause('+CREG: 3,3,"00A1","0001",7,0,13'), 13);
  t.equal(cause('+CEREG: 3,3,,,,0,8'), 8);
  t.equal(cause('+CGREG: 3,3,,,,,0,7'), 7, 'after the routing area');
  t.equal(cause('+CREG: 3,3,,,,1,300'), undefined, "one of the manufacturer's");
  t.equal(cause('+CREG: 3,3'), undefined);
});

t.test('one registered domain is enough', async (t) => {
  t.match(serviceOf(said('+CREG: 0,3', '+CEREG: 0,1')), { state: 'registered', reason: null }, 'VoLTE only');
  for (const stat of [1, 6, 9]) {
    t.match(serviceOf(said(`+CREG: 0,${stat}`)), { state: 'registered', reason: null }, String(stat));
  }
  for (const stat of [5, 7, 10]) {
    t.match(serviceOf(said(`+CREG: 0,${stat}`)), { state: 'registered', reason: 'roaming' }, String(stat));
  }
});

t.test('without service a slot says why', async (t) => {
  const reasons = { 0: 'not_searching', 2: 'searching', 4: 'no_coverage', 8: 'emergency_only' };
  for (const [stat, reason] of Object.entries(reasons)) {
    t.match(serviceOf(said(`+CREG: 0,${stat}`)), { state: 'searching', reason }, stat);
  }
  t.match(serviceOf(said('+CREG: 0,3', '+CEREG: 0,2')), { state: 'searching', reason: 'searching' });
  t.match(serviceOf({}), { state: 'searching' });
});

t.test('a denial says why, by cause or by the text of AT+CEER', async (t) => {
  const denied = (cause: number): unknown => serviceOf(said(`+CREG: 3,3,,,,0,${cause}`)).reason;
  // 3GPP TS 24.008 annex G.
  const words = {
    2: 'unknown_sim',
    3: 'illegal_sim',
    6: 'illegal_modem',
    11: 'plmn',
    12: 'area',
    13: 'roaming',
  };
  for (const [cause, word] of Object.entries(words)) t.equal(denied(Number(cause)), `denied_${word}`);
  t.equal(denied(111), 'denied_cause_111');
  t.match(serviceOf(said('+CREG: 0,3', '+CEREG: 0,0')), { state: 'denied', reason: 'denied' });
  t.match(serviceOf(said('+CREG: 0,3'), '+CEER: PLMN not allowed'), { reason: 'denied_plmn' });
  t.match(serviceOf(said('+CREG: 0,3'), '+CEER: "Roaming not allowed in this location area"'), {
    reason: 'denied_roaming',
  });
  t.match(serviceOf(said('+CREG: 0,3'), '+CEER: Illegal MS'), { reason: 'denied_illegal_sim' });
  t.match(serviceOf(said('+CREG: 0,3'), '+CEER: No cause information available'), { reason: 'denied' });
});

t.test('only a denial of this SIM or modem is permanent', async (t) => {
  const isHopeless = (...lines: string[]): boolean => serviceOf(said(...lines)).isHopeless;
  t.ok(isHopeless('+CREG: 3,3,,,,0,3'));
  t.ok(isHopeless('+CREG: 3,3,,,,0,11'));
  t.notOk(isHopeless('+CREG: 3,3,,,,0,17'), 'network failure');
  t.notOk(isHopeless('+CREG: 0,3'));
  t.notOk(isHopeless('+CREG: 0,2'));
});

t.test('signal in dBm, null when it is not known', async (t) => {
  t.equal(signalOf('+CSQ: 0,99'), -113);
  t.equal(signalOf('+CSQ: 21,99'), -71);
  t.equal(signalOf('+CSQ: 31,0'), -51);
  for (const line of ['+CSQ: 99,99', '+CSQ: 150,99', '+CSQ: ', '']) t.equal(signalOf(line), null, line);
  // 3GPP TS 27.007 §8.69: GSM rxlev, UTRAN rscp, E-UTRAN rsrp.
  t.equal(extendedSignalOf('+CESQ: 63,99,255,255,255,255'), -48);
  t.equal(extendedSignalOf('+CESQ: 99,99,96,255,255,255'), -25);
  t.equal(extendedSignalOf('+CESQ: 99,99,255,255,20,80'), -61);
  t.equal(extendedSignalOf('+CESQ: 99,99,255,255,255,255'), null);
  t.equal(dbmOf(-81, 'dbm'), -81);
  for (const value of [0, 5, -200, undefined]) t.equal(dbmOf(value, 'dbm'), null, String(value));
});

t.test('the operator, null when there is none', async (t) => {
  t.equal(operatorOf('+COPS: 0,2,"00101",7'), '00101');
  t.equal(operatorOf('+COPS: 0,0,"T-Mobile, US",7'), 'T-Mobile, US');
  t.equal(operatorOf('+COPS: 0'), null);
});
