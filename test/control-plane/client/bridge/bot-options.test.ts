// The options that name a bot, without a call: what is refused at once, what is sent to its API, and which addresses its answer may have.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import t from 'tap';
import { filledBody } from '#control-plane/client/bridge/bot-request.ts';
import { addressIn } from '#control-plane/client/bridge/joined-bot.ts';
import { addBotOptions, type BotOptions, botOf } from '#control-plane/client/commands/bot-options.ts';
import { temporaryFolder } from '../../../fixtures/temporary-folder.ts';

const parsed = (...args: string[]): Command =>
  addBotOptions(new Command('bridge')).exitOverride().parse(args, { from: 'user' });

t.test('wrong usage', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'headers'), 'X-API-Key: secret\n\nAuthorization Bearer secret\n');
  const use = (...args: string[]) => {
    const command = parsed(...args);
    return botOf(command.args[0], command.opts<BotOptions>(), {
      env: {},
      authToken: undefined,
      isOptional: false,
    });
  };
  const refused: Array<[string[], RegExp]> = [
    [['ws://localhost:1', '--raw', 'ws://localhost:2'], /name one bot/],
    [['--raw', 'ftp://localhost'], /not a ws:\/\/ or wss:\/\/ URL: ftp:\/\/localhost$/],
    [['http://localhost:1/ws'], /URL: http.*\n.*WebSocket server: ws:\/\/localhost:1\/ws\. .*TwiML: --twiml/],
    [['--vonage', 'https://bot.example'], /WebSocket server: wss:\/\/bot\.example/],
    [['--twiml', 'ws://localhost:1'], /For a web server: http:\/\/localhost:1\. .*without --twiml/],
    [['ws://localhost:1', '--body', '{}'], /--body needs/],
    [['--raw', 'ws://localhost:1', '--body', '{}'], /--body needs/],
    [['--twiml', 'http://localhost', '--body', '{'], /--body is not JSON/],
    [['--twiml', 'http://localhost', '--body', '@/nowhere'], /^\/nowhere: no such file or directory$/],
    [['--vonage', 'ws://localhost:1', '--control'], /--control needs --raw or --command/],
    [
      ['--skip', 'Say', 'ws://localhost:1'],
      /--skip took ws:\/\/localhost:1 as a name: put the URL before --skip$/,
    ],
    [['ws://localhost:1', '--skip', 'Say,Play'], /--skip: "Say,Play" is not a name/],
    [['--command', 'cat', '--header', 'A: b'], /--header needs a URL/],
    [['ws://localhost:1', '--header', 'no colon'], /--header must be/],
    [['ws://localhost:1', '--header', 'A: b\r\nC: d'], /--header must be/],
    [['ws://localhost:1', '--header', `@${join(folder, 'headers')}`], /--header must be/],
  ];
  for (const [args, message] of refused)
    t.throws(() => use(...args), { name: 'UsageError', message }, args.join(' '));
  // Only the name of the header is shown.
  t.throws(() => use('ws://localhost:1', '--header', 'X-API-Key: sécret'), { message: /: X-API-Key$/ });
});

t.test('an option before the URL does not swallow it', async (t) => {
  t.same(parsed('--header', 'A: b', '--header', 'C: d', 'ws://localhost:1').args, ['ws://localhost:1']);
});

t.test('a body is filled with the call, and a caller cannot add fields', async (t) => {
  const call = {
    callId: 'c1',
    accountId: 'a1',
    direction: 'inbound',
    from: '","admin":true',
    to: null,
  } as const;
  t.same(filledBody({ from: '{from}', list: ['{to}', '{call_id} {direction}', '{other}', 1, null] }, call), {
    from: '","admin":true',
    list: ['', 'c1 inbound', '{other}', 1, null],
  });
});

t.test('the address in the answer of an API', async (t) => {
  const api = 'https://api.example.org/call';
  const vapi = { monitor: { listenUrl: 'wss://a/listen' }, transport: { websocketCallUrl: 'wss://a/call' } };
  t.equal(addressIn(JSON.stringify(vapi), api).address, 'wss://a/call');
  t.same(addressIn('{"joinUrl":"wss://b/join"}', api), { address: 'wss://b/join', field: 'joinUrl' });
  t.match(addressIn('{"url":"ws://127.0.0.1:1/"}', 'http://127.0.0.1:2/'), { address: 'ws://127.0.0.1:1/' });
  const refused: Array<[string, RegExp]> = [
    ['{"joinUrl":"ws://b/join"}', /without TLS, at b$/],
    ['{"joinUrl":"https://b/join"}', /no WebSocket address/],
    ['{"joinUrl":{"toString":1}}', /no WebSocket address/],
    ['{"joinUrl":"wss://"}', /no WebSocket address/],
    ['null', /no WebSocket address/],
    ['<html>', /no WebSocket address/],
  ];
  for (const [answer, message] of refused)
    t.throws(() => addressIn(answer, api), { name: 'BotError', message }, answer);
});
