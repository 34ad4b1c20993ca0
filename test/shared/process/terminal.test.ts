// Texts of strangers in a terminal: they are shown, and steer nothing.
import t from 'tap';
import { alignedTable } from '#shared/process/aligned-table.ts';
import { onLines, toJson } from '#shared/process/terminal.ts';

const HOSTILE = 'a\u001b[2J\u009b31m\u0007\r\u0000\u202eb';
const SHOWN = 'a\ufffd[2J\ufffd31m\ufffd\ufffd\ufffd\ufffdb';

t.test('a table has each of its texts on one line, without what steers', async (t) => {
  const table = alignedTable(['NAME', 'WHY'], [[HOSTILE, 'two\nlines']]);
  t.equal(table, `${'NAME'.padEnd(SHOWN.length)}  WHY\n${SHOWN}  two ⏎ lines`);
});

t.test('lines of ours stay lines', async (t) => {
  t.equal(onLines(`first\n${HOSTILE}\n\nlast`), `first\n${SHOWN}\n\nlast`);
});

t.test('JSON says the same', async (t) => {
  const value = { [HOSTILE]: [HOSTILE, 'ü 📶'] };
  const text = toJson(value);
  t.notMatch(text, /[\p{Cc}\u202e]/u);
  t.match(text, 'ü 📶');
  t.same(JSON.parse(text), value);
});
