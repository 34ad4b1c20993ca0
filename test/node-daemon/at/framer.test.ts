// The framer gives the same frames for every way of cutting the bytes.
import t from 'tap';
import { type Frame, Framer, LINE_LENGTH_MAX } from '#node-daemon/at/framer.ts';

function frames(...chunks: string[]): Frame[] {
  const framer = new Framer();
  return chunks.flatMap((chunk) => framer.push(Buffer.from(chunk, 'latin1')));
}

const line = (text: string): Frame => ({ kind: 'line', text });
const PROMPT: Frame = { kind: 'prompt' };

t.test('every cut of a dialogue in two and into single bytes gives the same frames', async (t) => {
  const dialogue =
    '\0AT+CMGS=22\r\r\n> 0011000B91\x1a\r\n\r\n\r\r\n+CMGS: 7\r\n\r\nOK\r\n\r\n+CMTI: "SM",3\r\n\r\n+CREG: 1,"00A1"\r\n';
  const expected = [
    line('AT+CMGS=22'),
    PROMPT,
    line('0011000B91\x1a'),
    line('+CMGS: 7'),
    line('OK'),
    line('+CMTI: "SM",3'),
    line('+CREG: 1,"00A1"'),
  ];
  t.same(frames(dialogue), expected);
  t.same(frames(...dialogue), expected);
  for (let cut = 1; cut < dialogue.length; cut += 1) {
    t.same(frames(dialogue.slice(0, cut), dialogue.slice(cut)), expected, `cut at ${cut}`);
  }
});

t.test('a line that begins with ">" and no blank is a line', async (t) => {
  t.same(frames('\r\n>x\r\n'), [line('>x')]);
});

t.test('"> " within a line is no prompt', async (t) => {
  t.same(frames('+CUSD: 0,"a > b"\r\n'), [line('+CUSD: 0,"a > b"')]);
});

t.test(
  'a line of the longest length passes, a longer one is dropped and the next one is whole',
  async (t) => {
    t.same(frames(`${'x'.repeat(LINE_LENGTH_MAX)}\r\n`), [line('x'.repeat(LINE_LENGTH_MAX))]);
    const overlong = `${'x'.repeat(LINE_LENGTH_MAX * 3)}\r\nOK\r\n`;
    t.same(frames(overlong), [{ kind: 'overlong' }, line('OK')]);
    t.same(frames(...overlong), [{ kind: 'overlong' }, line('OK')]);
  },
);
