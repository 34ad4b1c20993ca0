// The last gate of the log: people's texts are removed in every form, and the data that operators need stays.
import t from 'tap';
import { redacted } from '#shared/process/logger.ts';

t.test('numbers, wallets, keys, tokens, credentials and mail addresses are replaced', async (t) => {
  for (const [secret, shown] of [
    ['+12065550123', '[number]'],
    ['+442071838750', '[number]'],
    ['12065550123', '[number]'],
    ['2065550123', '[number]'],
    ['(206) 555-0123', '[number]'],
    ['206-555-0123', '[number]'],
    ['1 206.555.0123', '[number]'],
    // A wallet, a key (with and without 0x), a signature.
    [`0x${'aB1'.repeat(13)}c`, '[hex]'],
    [`0x${'0f'.repeat(32)}`, '[hex]'],
    ['9e'.repeat(32), '[hex]'],
    [`0x${'7c'.repeat(65)}`, '[hex]'],
    [`simrack_${'Ab_-9'.repeat(8)}xyz`, '[token]'],
    ['Bearer eyJhbGciOiJIUzI1NiJ9.e30.abc', 'Bearer [credential]'],
    ['Payment eyJjaGFsbGVuZ2UiOnt9fQ==', 'Payment [credential]'],
    ['8901000000000000017', '[ICCID …0017]'],
    ['89010000000000000178', '[ICCID …0178]'],
    ['8901000000000000017F', '[ICCID …0017]'],
    ['ada.lovelace+list@mail.example.org', '[mail address]'],
  ] as const) {
    t.equal(redacted(`{"msg":"what ${secret} did"}`), `{"msg":"what ${shown} did"}`);
    t.equal(redacted(`{"msg":"what","by":"${secret}"}`), `{"msg":"what","by":"${shown}"}`, secret);
  }
});

t.test('fields that an operator searches for stay as they are', async (t) => {
  for (const line of [
    '{"level":30,"time":1795336726607,"pid":22496,"hostname":"rack-7","msg":"node linked","acknowledged":2065550123}',
    '{"requestId":"cd93bf44-c26a-4917-813d-5b92ae72d510","route":"/voice/presence/:number","ms":12}',
    '{"payment":"pay_0123456789abcdef01234567","command":"msg_0123456789abcdef01234567"}',
    '{"imei":"350000000000017","at":"2026-11-22T08:12:17.000Z"}',
    '{"at":"2026-11-21T10:00:00-08:00","port":"127.0.0.1:5432","version":"1.22.333.4444"}',
    '{"err":{"stack":"    at run (/app/node_modules/@koa/router/dist/index.mjs:1049:9)"}}',
  ])
    t.equal(redacted(line), line);
});

t.test('a line of JSON stays one', async (t) => {
  const line = JSON.stringify({ seconds: 2_065_550_123, text: 'call 2065550123 or "+12065550123"\n' });
  t.doesNotThrow(() => JSON.parse(redacted(line)));
  t.notMatch(redacted(line), /call 2065550123|\+1206/);
});

t.test('a long line takes no long time', async (t) => {
  for (const piece of ['a@', '+1', '2-', '(206) ', '0xab', 'simrack_', 'a.', 'Bearer ']) {
    // Processor time: other processes do not count.
    const startedWith = process.cpuUsage();
    redacted(piece.repeat(20_000));
    t.ok(process.cpuUsage(startedWith).user < 1_000_000, piece);
  }
});
