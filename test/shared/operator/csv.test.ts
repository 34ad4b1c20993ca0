// A listing as CSV: RFC 4180, and nothing that a spreadsheet would run.
import t from 'tap';
import { csvOf } from '#shared/operator/csv.ts';
import type { Column } from '#shared/operator/listing.ts';
import { SLOT_STATUS } from '#shared/operator/slot-health.ts';

const VIEW = { isFull: false, nowMs: 0 };
const TEXT: Column<string>[] = [{ title: 'Text', cell: (text) => text }];
const textOf = (text: string): string => csvOf(TEXT, [text], VIEW).slice('Text\r\n'.length, -2);

t.test('cells', async (t) => {
  const columns: Column<null>[] = [
    { title: 'At', cell: () => ({ time: '2026-11-25T09:00:01.000Z' }) },
    { title: 'Never', cell: () => ({ time: null }) },
    { title: 'State', cell: () => ({ status: SLOT_STATUS.registered, text: 'registered' }) },
    { title: 'Number', cell: () => ({ link: { number: '+12065550100' }, text: '+12065550100' }) },
    { title: 'None', cell: () => null },
    { title: 'A, "b"', cell: () => 'c, "d"' },
  ];
  t.equal(
    csvOf(columns, [null], VIEW),
    'At,Never,State,Number,None,"A, ""b"""\r\n2026-11-25T09:00:01.000Z,,registered,+12065550100,,"c, ""d"""\r\n',
  );
});

t.test('a cell has no formula, no line break and no control character', async (t) => {
  t.equal(textOf('=1+1'), "'=1+1");
  t.equal(textOf('=HYPERLINK("https://x","y")'), `"'=HYPERLINK(""https://x"",""y"")"`);
  t.equal(textOf('@SUM(A1)'), "'@SUM(A1)");
  t.equal(textOf('-2+3'), "'-2+3");
  t.equal(textOf('+1206+cmd|x'), "'+1206+cmd|x");
  t.equal(textOf('\t=1'), "'�=1");
  t.equal(textOf('\r=1'), "'�=1");
  t.equal(textOf('two\nlines'), 'two ⏎ lines');
  t.equal(textOf('\u001b[2J'), '�[2J');
  t.equal(textOf('+12065550100'), '+12065550100', 'a number stays as it is');
  t.equal(textOf('+1206…0100'), '+1206…0100');
  t.equal(textOf('T-Mobile (310260)'), 'T-Mobile (310260)');
});
