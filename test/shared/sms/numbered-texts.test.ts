// Long texts as numbered texts: each fits into one segment, and joined they are the text.
import t from 'tap';
import { numberedTexts, TEXTS_MAX } from '#shared/sms/numbered-texts.ts';
import { SEGMENT_UNITS, segmentText } from '#shared/sms/segmentation.ts';
import { transliterate } from '#shared/sms/transliteration.ts';

const joined = (texts: readonly string[]): string =>
  texts.map((text) => text.replace(/^\(\d+\/\d+\) /, '')).join('');

t.test('one segment stays as it is', async (t) => {
  t.same(numberedTexts('a'.repeat(160)).texts, ['a'.repeat(160)]);
  t.same(numberedTexts('ж'.repeat(70)).texts, ['ж'.repeat(70)]);
});

t.test('each text fits into one segment, and nothing is lost', async (t) => {
  for (const unit of ['a', '€', '[', 'ж', '😀', '’a', 'e\u0301']) {
    for (const length of [161, 300, 700]) {
      const text = unit.repeat(Math.ceil(length / unit.length)).slice(0, length - (length % unit.length));
      const { encoding, texts } = numberedTexts(text, 100);
      t.equal(joined(texts), text);
      for (const each of texts) {
        t.match(each, /^\(\d+\/\d+\) |^[^(]/u);
        t.ok(segmentText(each).units <= SEGMENT_UNITS[encoding].single, each);
        t.notMatch(each, /\p{Surrogate}/u);
      }
    }
  }
});

t.test('texts are cut at spaces, and numbers have two digits where needed', async (t) => {
  const words = 'alpha beta gamma delta '.repeat(70).trim();
  const { texts } = numberedTexts(words);
  t.ok(texts.length >= 10);
  t.match(texts[0], /^\(1\/1\d\) alpha/);
  for (const text of texts) t.match(text, /(alpha|beta|gamma|delta)$/);
  t.throws(() => numberedTexts('a'.repeat(160 * TEXTS_MAX)), RangeError);
});

t.test('typographic characters become GSM 7-bit, and it says which', async (t) => {
  t.same(transliterate('“It’s”\u00a0– …'), {
    text: '"It\'s" - ...',
    replaced: [
      { from: '“', to: '"', count: 1 },
      { from: '’', to: "'", count: 1 },
      { from: '”', to: '"', count: 1 },
      { from: '\u00a0', to: ' ', count: 1 },
      { from: '–', to: '-', count: 1 },
      { from: '…', to: '...', count: 1 },
    ],
  });
  t.same(transliterate('It’s 😀'), { text: 'It’s 😀', replaced: [] }, 'UCS-2 in any case');
});
