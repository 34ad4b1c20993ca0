// How texts are counted and cut: 160 or 70, with parts 153 or 67, and no pair torn apart.
import t from 'tap';
import { segmentText } from '#shared/sms/segmentation.ts';

const lengths = (text: string): number[] => segmentText(text).segments.map((segment) => segment.length);

t.test('GSM 7 bit: 160 alone, 153 in parts', async (t) => {
  t.same(lengths('x'.repeat(160)), [160]);
  t.same(lengths('x'.repeat(161)), [153, 8]);
  t.same(lengths('x'.repeat(306)), [153, 153]);
  t.same(lengths('x'.repeat(307)), [153, 153, 1]);
});

t.test('UCS-2: 70 alone, 67 in parts', async (t) => {
  t.same(lengths('ж'.repeat(70)), [70]);
  t.same(lengths('ж'.repeat(71)), [67, 4]);
  t.equal(segmentText('ж'.repeat(71)).encoding, 'ucs2');
});

t.test('an extension character counts twice and is not torn apart', async (t) => {
  t.equal(segmentText('€'.repeat(80)).units, 160);
  t.same(lengths('€'.repeat(80)), [80]);
  t.same(lengths(`${'x'.repeat(152)}€${'x'.repeat(7)}`), [152, 8]);
});

t.test('a surrogate pair is not torn apart', async (t) => {
  t.same(lengths(`${'ж'.repeat(66)}😀${'ж'.repeat(3)}`), [66, 5]);
  t.equal(segmentText('😀'.repeat(35)).segments.length, 1);
  t.equal(segmentText('😀'.repeat(36)).units, 72);
});

t.test('the segments joined are the text, and none is too long', async (t) => {
  const text = 'a€ж😀'.repeat(60);
  const { segments } = segmentText(text);
  t.equal(segments.join(''), text);
  t.ok(segments.every((segment) => segment.length <= 67));
});

t.test('one character outside of the alphabet makes all of it UCS-2', async (t) => {
  t.equal(segmentText('plain').encoding, 'gsm7');
  t.equal(segmentText('plain ç').encoding, 'ucs2');
});
