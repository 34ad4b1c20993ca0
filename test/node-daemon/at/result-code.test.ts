// Which lines end a command.
import t from 'tap';
import { parseFinalResult } from '#node-daemon/at/result-code.ts';

t.test('final result codes are read', async (t) => {
  t.same(parseFinalResult('OK'), { kind: 'ok' });
  t.same(parseFinalResult('ERROR'), { kind: 'error' });
  t.same(parseFinalResult('ERROR+CNUM:'), { kind: 'error', trailing: '+CNUM:' });
  t.same(parseFinalResult('+CME ERROR: 25+CNUM: "","+33671651906",145'), {
    kind: 'cme',
    code: 25,
    trailing: '+CNUM: "","+33671651906",145',
  });
  t.same(parseFinalResult('COMMAND NOT SUPPORT'), { kind: 'error' });
  t.same(parseFinalResult('+CME ERROR: 10'), { kind: 'cme', code: 10 });
  t.same(parseFinalResult('+CMS ERROR: 321'), { kind: 'cms', code: 321 });
  t.same(parseFinalResult('+CMS ERROR:38'), { kind: 'cms', code: 38 });
});

t.test('an error in words has the code of the words, or that of "unknown"', async (t) => {
  t.same(parseFinalResult('+CME ERROR: SIM not inserted'), { kind: 'cme', code: 10 });
  t.same(parseFinalResult('+CME ERROR: SIM PUK required'), { kind: 'cme', code: 12 });
  t.same(parseFinalResult('+CME ERROR: incorrect password'), { kind: 'cme', code: 16 });
  t.same(parseFinalResult('+CMS ERROR: SIM busy'), { kind: 'cms', code: 314 });
  t.same(parseFinalResult('+CMS ERROR: memory full'), { kind: 'cms', code: 322 });
  t.same(parseFinalResult('+CMS ERROR: Invalid memory index'), { kind: 'cms', code: 321 });
  t.same(parseFinalResult('+CME ERROR: the dog ate it'), { kind: 'cme', code: 100 });
  t.same(parseFinalResult('+CMS ERROR: '), { kind: 'cms', code: 500 });
  t.same(parseFinalResult('+CMS ERROR: constructor'), { kind: 'cms', code: 500 });
});

t.test('lines in the middle of an answer end no command', async (t) => {
  for (const line of ['NO CARRIER', 'BUSY', 'RING', 'OKAY', 'ERRORS', '+CMTI: "SM",1', '+CME: 1', 'ok', '']) {
    t.equal(parseFinalResult(line), undefined, line);
  }
});
