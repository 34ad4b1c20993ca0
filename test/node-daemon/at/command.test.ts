// Commands as data: nothing can end a command line early; fields are read back.
import t from 'tap';
import { atCommand, quoted, withPrefix } from '#node-daemon/at/command.ts';
import { fieldsOf, integerField } from '#node-daemon/at/fields.ts';

t.test('text that would end or escape the command line is refused', async (t) => {
  for (const bad of ['a"b', 'a\rb', 'a\nb', 'a\x1ab', 'a\x1bb', 'ä', 'x'.repeat(257)]) {
    t.throws(() => quoted(bad), JSON.stringify(bad));
  }
  for (const bad of ['AT\r', 'AT\x1a', '', 'A', 'ATé']) t.throws(() => atCommand(bad), JSON.stringify(bad));
  t.throws(() => atCommand('AT+CMGS=1', { body: '00\x1a' }));
  t.equal(quoted('ME'), '"ME"');
});

t.test('a prefix is matched as it is written', async (t) => {
  t.ok(withPrefix('+CSQ:').test('+CSQ: 21,99'));
  t.notOk(withPrefix('+CSQ:').test('CSQ: 21,99'));
  t.notOk(withPrefix('+CSQ:').test('x+CSQ: 21,99'));
});

t.test('fields keep commas in quotes, lose quotes and blanks, and may be empty', async (t) => {
  t.same(fieldsOf('+CMTI: "SM",3'), ['SM', '3']);
  t.same(fieldsOf('+CMTI: ,-1'), ['', '-1']);
  t.same(fieldsOf('+CNUM: "a,b" , "+1",145'), ['a,b', '+1', '145']);
  t.same(fieldsOf('RING'), []);
  t.equal(integerField(['', '-1', 'x', '12345678901'], 1), -1);
  for (const position of [0, 2, 3, 4]) {
    t.equal(integerField(['', '-1', 'x', '12345678901'], position), undefined);
  }
});

t.test('each command has the time that the standard or its makers give it', async (t) => {
  const seconds = (text: string): number => atCommand(text).timeoutMs / 1_000;
  t.equal(seconds('AT+CMGS=24'), 120, 'the network answers');
  t.equal(seconds('AT+COPS=?'), 180, 'all bands are searched');
  t.equal(seconds('AT+COPS=0'), 180);
  t.equal(seconds('AT+COPS=3,2'), 5, 'the format is set at once');
  t.equal(seconds('AT+COPS?'), 5);
  t.equal(seconds('AT+CFUN=1,1'), 15);
  t.equal(seconds('AT+CMGL=4'), 60);
  t.equal(seconds('AT+CPIN?'), 10);
  t.equal(seconds('AT^ICCID?'), 10);
  t.equal(seconds('AT+CSQ'), 5);
});
