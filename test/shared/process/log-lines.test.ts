// A line of the log for a program, on a terminal and in a journal, whose priorities sd-daemon(3) defines.
import { fstatSync } from 'node:fs';
import t from 'tap';
import { isJournal, lineWriter } from '#shared/process/log-lines.ts';

const LINE = `${JSON.stringify({ level: 40, time: 1_764_000_000_000, pid: 7, hostname: 'rack', name: 'node-daemon', slot: 'm3', msg: 'the modem does not answer' })}\n`;
const FAILED = `${JSON.stringify({ level: 50, time: 0, msg: 'failed', err: { type: 'Error', message: 'no', stack: 'Error: no\n    at a\n    at b' } })}\n`;
const at = (level: number): string => `${JSON.stringify({ level, time: 0, msg: 'x' })}\n`;

t.test('log lines are JSON, unless a person reads them', (t) => {
  const pipe = { isTerminal: false, isJournal: false };
  t.equal(lineWriter({ format: 'auto', ...pipe })(LINE), LINE);
  t.equal(lineWriter({ format: 'json', isTerminal: true, isJournal: false })(LINE), LINE);
  const text = lineWriter({ format: 'text', ...pipe })(LINE);
  t.match(text, /WARN.*node-daemon.*the modem does not answer.*"slot":"m3"/);
  t.notMatch(text, /hostname|"pid"/);
  t.equal(lineWriter({ format: 'auto', isTerminal: true, isJournal: false })(LINE), text);
  const hostile = JSON.stringify({
    level: 30,
    time: 0,
    msg: 'a\u001b]0;title\u0007\u202e',
    text: '\u009b31m',
  });
  t.notMatch(lineWriter({ format: 'text', ...pipe })(`${hostile}\n`), /(?!\n)[\p{Cc}\u202e]/u);
  t.end();
});

t.test('in a journal: the priority in front of each line, and nothing that the journal has', (t) => {
  const journal = lineWriter({ format: 'auto', isTerminal: false, isJournal: true });
  t.equal(journal(LINE), '<4>the modem does not answer {"slot":"m3"}\n');
  for (const line of journal(FAILED).trimEnd().split('\n')) t.match(line, /^<3>/);
  const json = lineWriter({ format: 'json', isTerminal: false, isJournal: true });
  t.same(
    [20, 30, 40, 50].map((level) => json(at(level))),
    [7, 6, 4, 3].map((priority, index) => `<${priority}>${at(20 + 10 * index)}`),
  );
  t.end();
});

t.test('a journal is known by its device and inode', (t) => {
  const { dev, ino } = fstatSync(1);
  t.equal(isJournal(1, { JOURNAL_STREAM: `${dev}:${ino}` }), true);
  t.equal(
    isJournal(1, { JOURNAL_STREAM: `${dev}:${ino + 1}` }),
    false,
    'a program below has another standard error',
  );
  t.equal(isJournal(1, {}), false);
  t.equal(isJournal(999, { JOURNAL_STREAM: '1:2' }), false);
  t.end();
});

t.test('a block is one event: a line for each entry in a text, fields in JSON', (t) => {
  const block = { api: 'http://127.0.0.1:8080', link_versions: '1 to 1', chains: ['eip155:1', 'bad\nline'] };
  const line = `${JSON.stringify({ level: 30, time: 0, block, msg: 'service started' })}\n`;
  const journal = lineWriter({ format: 'auto', isTerminal: false, isJournal: true });
  t.same(journal(line).split('\n'), [
    '<6>service started',
    '<6>  api            http://127.0.0.1:8080',
    '<6>  link versions  1 to 1',
    '<6>  chains         eip155:1',
    '<6>  chains         bad ⏎ line',
    '',
  ]);
  t.equal(lineWriter({ format: 'json', isTerminal: true, isJournal: false })(line), line);
  t.end();
});
