// Which texts are keywords, and which numbers are the same.
import t from 'tap';
import { optOutKeywordOf, peerKeyOf } from '#control-plane/domain/opt-out.ts';

t.test('a keyword is the whole text, however it is written', async (t) => {
  const stops = ['STOP', 'stopall', 'Unsubscribe', 'cancel', 'End', 'QUIT', 'optout', 'revoke'];
  const forms = [
    'opt out',
    'OPT-OUT.',
    ' Stop! ',
    '"stop"',
    'stop all',
    'STOP 🛑',
    '\nstop\u00a0',
    'Ｓｔｏｐ',
    'S.T.O.P.',
  ];
  for (const text of [...stops, ...forms]) t.equal(optOutKeywordOf(text), 'stop', text);
  for (const text of ['START', 'start.', 'Unstop']) t.equal(optOutKeywordOf(text), 'start', text);
  t.equal(optOutKeywordOf('Yes!'), 'yes');
});

t.test('spaces around a keyword, and lines below one that stops texts, do not count', async (t) => {
  const signature = `Sent from my ${'very '.repeat(20)}smart phone`;
  const stops = [
    `STOP${' '.repeat(70)}`,
    `${'\n'.repeat(70)}stop`,
    'Stop\n\nSent from my iPhone',
    'opt\nout',
  ];
  for (const text of [...stops, `STOP.\r\n${signature}`, `Stop \r${signature}`, `Stop\u2028${signature}`])
    t.equal(optOutKeywordOf(text), 'stop', encodeURI(text));
  t.equal(optOutKeywordOf(` \nSTART${' '.repeat(70)}`), 'start');
  for (const text of [
    'Stop by at 5\nthanks',
    'thanks\nstop',
    'Yes\nI come at 5',
    'Start\nwithout me',
    '...\nSTOP 2',
  ])
    t.equal(optOutKeywordOf(text), undefined, encodeURI(text));
});

t.test('any other text is none', async (t) => {
  const texts = [
    '',
    '...',
    '🛑',
    'please stop',
    'STOP 2',
    'stopp',
    "don't stop",
    'the end',
    'yes please',
    'ѕtop',
    '__proto__',
  ];
  for (const text of [...texts, `st${' '.repeat(100)}op`, 'constructor', 'toString'])
    t.equal(optOutKeywordOf(text), undefined, text);
});

t.test('numbers compare in E.164 form, names without regard to case', async (t) => {
  for (const form of ['+13105550188', '13105550188', '3105550188', ' +1 (310) 555-0188', '310.555.0188'])
    t.equal(peerKeyOf(form), '+13105550188', form);
  t.equal(peerKeyOf('+447700900123'), '+447700900123');
  t.equal(peerKeyOf('447700900123'), '447700900123', 'not of the US: its country is unknown');
  t.equal(peerKeyOf('72975'), '72975');
  t.equal(peerKeyOf('My Bank'), peerKeyOf('MY BANK'));
  t.equal(peerKeyOf('1105550188'), '1105550188', 'no area code begins with 1');
});
