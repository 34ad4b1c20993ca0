// Texts of strangers in a terminal: they are shown, and steer nothing.
import t from 'tap';
import { createLogger } from '#shared/process/logger.ts';
import { alignedTable, onLines, toJson } from '#shared/process/terminal.ts';
import { STEERING_TEXT, steeringIn } from '../../fixtures/steering-text.ts';

const HOSTILE = 'a\u001b[2J\u009b31m\u0007\r\u0000\u202eb';
const SHOWN = 'a\ufffd[2J\ufffd31m\ufffd\ufffd\ufffd\ufffdb';

t.test('a table has each text on one line, without control characters', async (t) => {
  const table = alignedTable(['NAME', 'WHY'], [[HOSTILE, 'two\nlines']]);
  t.equal(table, `${'NAME'.padEnd(SHOWN.length)}  WHY\n${SHOWN}  two ⏎ lines`);
});

t.test('our own line breaks stay', async (t) => {
  t.equal(onLines(`first\n${HOSTILE}\n\nlast`), `first\n${SHOWN}\n\nlast`);
});

t.test('JSON escapes control characters and keeps the text', async (t) => {
  const value = { [HOSTILE]: [HOSTILE, 'ü 📶'] };
  const text = toJson(value);
  t.notMatch(text, /[\p{Cc}\u202e]/u);
  t.match(text, 'ü 📶');
  t.same(JSON.parse(text), value);
});

t.test('indented JSON keeps its lines', async (t) => {
  const text = toJson({ body: STEERING_TEXT }, 2);
  t.equal(steeringIn(text), undefined);
  t.equal(text.split('\n').length, 3);
  t.same(JSON.parse(text), { body: STEERING_TEXT });
});

t.test('tables and lines contain no control characters', async (t) => {
  t.equal(steeringIn(alignedTable([STEERING_TEXT], [[STEERING_TEXT]])), undefined);
  t.equal(steeringIn(onLines(STEERING_TEXT)), undefined);
});

t.test('the log contains no control characters, and the same text', async (t) => {
  const lines: string[] = [];
  const log = createLogger('test', { logLevel: 'info' }, (line) => lines.push(line));
  log.info({ text: STEERING_TEXT, err: new Error(STEERING_TEXT) }, STEERING_TEXT);
  t.equal(lines.length, 1);
  t.equal(steeringIn(String(lines[0])), undefined);
  t.match(JSON.parse(String(lines[0])), { text: STEERING_TEXT, msg: STEERING_TEXT });
});
