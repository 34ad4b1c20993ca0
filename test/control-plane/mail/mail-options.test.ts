// The error for an operator who mistypes an option of mail; it does not show the value.
import t from 'tap';
import { OPTIONS } from '#control-plane/config/config.ts';
import { runProgram } from '../../fixtures/run-program.ts';

const PASSWORD = 'hunter2';

const start = (env: Record<string, string>) => runProgram('control-plane', [], { ...env });

t.test('the service does not start with half of the mail options', async (t) => {
  const SMTP_URL = `smtp://shop:${PASSWORD}@mail.example.org`;
  const MAIL_FROM = 'Shop <shop@example.org>';
  for (const [env, problem] of [
    [{ SMTP_URL }, 'SMTP_URL needs MAIL_FROM, the sender of the mail'],
    [{ MAIL_FROM }, 'MAIL_FROM needs SMTP_URL: set both or neither'],
    [{ SMTP_URL, MAIL_FROM }, 'SMTP_URL needs PUBLIC_URL, for the links in mails'],
    [
      { SMTP_URL: `http://${PASSWORD}`, MAIL_FROM },
      'error: SMTP_URL: must be smtp://user:password@host:port, or smtps://',
    ],
    [{ SMTP_URL, MAIL_FROM: PASSWORD }, 'error: MAIL_FROM: must be an e-mail address, or Name <address>'],
  ] as const) {
    const { status, stderr } = await start(env);
    t.equal(status, 1, problem);
    t.ok(stderr.includes(problem), stderr);
    t.notMatch(stderr, PASSWORD);
  }
});

t.test('servers and senders are read in their usual spellings', async (t) => {
  const serverOf = (text: string): unknown => OPTIONS.smtpUrl.schema.safeParse(text).data;
  const plain = { isSecure: false, credentials: undefined };
  t.same(serverOf('smtp://localhost:25'), { ...plain, host: 'localhost', port: 25 });
  t.same(serverOf('smtp://mail.example.org/'), { ...plain, host: 'mail.example.org', port: 587 });
  t.same(serverOf('smtps://[2001:db8::1]'), { ...plain, host: '2001:db8::1', port: 465, isSecure: true });
  t.same(serverOf('smtp://me%40example.org:p%3Aa%2Fs@mail.example.org:2525'), {
    host: 'mail.example.org',
    port: 2525,
    isSecure: false,
    credentials: { user: 'me@example.org', pass: 'p:a/s' },
  });
  const bad = [
    '',
    'mail.example.org',
    'mail.example.org:25',
    'smtp:',
    'smtp://',
    'smtp://:25',
    'smtp://user@host',
    'smtp://:pass@host',
    'smtp://host:0',
    'smtp://host:65536',
    'smtp://host/path',
    'smtp://host?logger=true',
    'smtp://host#a',
    'smtp://%ff:pass@host',
    'https://host',
  ];
  for (const text of bad) t.equal(serverOf(text), undefined, text);

  const senderOf = (text: string): unknown => OPTIONS.mailFrom.schema.safeParse(text).data;
  t.same(senderOf('a@example.org'), { name: '', address: 'a@example.org' });
  t.same(senderOf('Ann, the shop <a@example.org>'), { name: 'Ann, the shop', address: 'a@example.org' });
  t.same(senderOf('<a@example.org>'), { name: '', address: 'a@example.org' });
  for (const text of [
    '',
    'Ann',
    'Ann <>',
    'Ann a@example.org',
    'A <a@x.org>, B <b@x.org>',
    'A\r\nB: <a@x.org>',
  ])
    t.equal(senderOf(text), undefined, text);
});
