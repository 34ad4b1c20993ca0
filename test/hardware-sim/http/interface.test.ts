// The HTTP interface from outside, good requests and bad.
import { get } from 'node:http';
import { connect } from 'node:net';
import t from 'tap';
import { request } from '../../fixtures/network/json-request.ts';
import { until } from '../../fixtures/until.ts';
import { post } from '../fixtures/http.ts';
import { quietTerminal, startModem, startRack } from '../fixtures/rack.ts';
import { Terminal } from '../fixtures/terminal.ts';

const SUBMIT = '018111000B915155001032F40000000BC8329BFD06DDDF723619';
const HELLO = { from: '+15550000012', to: '+12065550100', body: 'Hi' };

t.test('GET /modems lists the modems of the rack', async (t) => {
  const rack = await startRack(t);
  const { status, body } = await request(`${rack.url}/modems`);
  t.equal(status, 200);
  t.match(body, [
    {
      slot: 'm0',
      imei: /^\d{15}$/,
      iccid: /^8901\d{15}$/,
      imsi: /^00101\d{10}$/,
      number: '+12065550100',
      ports: { at: `${rack.dir}/m0-at`, at2: `${rack.dir}/m0-at2`, pcm: `${rack.dir}/m0-pcm` },
      state: 'registered',
      stores: { SM: { used: 0, total: 50 }, ME: { used: 0, total: 255 } },
      faults: [],
    },
    { slot: 'm1', number: '+12065550101' },
  ]);
});

t.test('POST /sms reaches the modem before it is answered', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  const { status, body } = await post(`${rack.url}/sms`, HELLO);
  t.equal(status, 202);
  t.same(body, { id: 1, segments: 1 });
  t.equal(modem.stores.used('SM'), 1);
  await terminal.expect('+CMTI: "SM",1');
});

t.test('POST /sms cuts long texts', async (t) => {
  const { rack, modem } = await startModem(t);
  const send = (fields: object) => post(`${rack.url}/sms`, { ...HELLO, ...fields });
  t.match((await send({ body: 'A'.repeat(161) })).body, { segments: 2 });
  t.match((await send({ body: 'Ж'.repeat(71), reference_bits: 16 })).body, { segments: 2 });
  t.match((await send({ body: 'A'.repeat(71), encoding: 'ucs2' })).body, { segments: 2 });
  const pdus = modem.stores.entries('SM').map(([, { pdu }]) => pdu);
  t.match(pdus, [
    /A0050003010201/,
    /050003010202/,
    /0608040003020[1]/,
    /0608040003020[2]/,
    /050003050201/,
    /050003050202/,
  ]);
});

t.test('POST /sms refuses what cannot be sent', async (t) => {
  const { rack, modem } = await startModem(t);
  const cases: [value: unknown, status: number, error: string][] = [
    [{ ...HELLO, to: '+12065559999' }, 404, 'unknown_number'],
    [{ ...HELLO, to: '12065550100' }, 400, 'invalid_request'],
    [{ ...HELLO, from: 'TWELVE CHARS' }, 400, 'invalid_request'],
    [{ ...HELLO, from: '' }, 400, 'invalid_request'],
    [{ ...HELLO, from: '+' }, 400, 'invalid_request'],
    [{ ...HELLO, from: '1234567890123456' }, 400, 'invalid_request'],
    [{ ...HELLO, body: '' }, 400, 'invalid_request'],
    [{ ...HELLO, body: '\ud83d' }, 400, 'invalid_request'],
    [{ ...HELLO, body: 'Ж', encoding: 'gsm7' }, 400, 'invalid_request'],
    [{ ...HELLO, body: 'A'.repeat(255 * 153 + 1) }, 400, 'invalid_request'],
    [{ ...HELLO, reference_bits: 9 }, 400, 'invalid_request'],
    [{ ...HELLO, extra: 1 }, 400, 'invalid_request'],
    [{ from: HELLO.from }, 400, 'invalid_request'],
    [[], 400, 'invalid_request'],
    [{ ...HELLO, body: 'A'.repeat(1_100_000) }, 413, 'payload_too_large'],
  ];
  for (const [value, status, error] of cases) {
    t.match(await post(`${rack.url}/sms`, value), { status, body: { error, message: String } });
  }
  for (const body of ['', '{', '\u0000']) {
    t.match(await request(`${rack.url}/sms`, { method: 'POST', body }), {
      status: 400,
      body: { error: 'invalid_json' },
    });
  }
  t.equal(modem.stores.used('SM'), 0);
});

t.test('a wrong name of a field is named, with the one that was probably meant', async (t) => {
  const { rack } = await startModem(t);
  const { from, ...rest } = HELLO;
  const messages: [value: unknown, message: string][] = [
    [
      { ...rest, form: from },
      'from: is required; "form" is not a field of this request. Did you mean "from"?',
    ],
    [
      { ...HELLO, colour: 1 },
      '"colour" is not a field of this request. Its fields are from, to, body, encoding, reference_bits.',
    ],
    [[{ ...HELLO, bod: '' }], '"bod" is not a field of this request. Did you mean "body"?'],
  ];
  for (const [value, message] of messages)
    t.same(await post(`${rack.url}/sms`, value), {
      status: 400,
      body: { error: 'invalid_request', message },
    });
});

t.test('POST /sms/raw stores a PDU as it is, right or wrong', async (t) => {
  const { rack, terminal } = await startModem(t);
  t.equal((await post(`${rack.url}/sms/raw`, { to: HELLO.to, pdu: '07F' })).status, 202);
  t.equal((await post(`${rack.url}/sms/raw`, { to: HELLO.to, pdu: '00040B91', length: 99 })).status, 202);
  t.equal(
    await terminal.command('AT+CMGL=4').then((text) => text.replace(/\r\n\+CMTI: "SM",\d\r\n/g, '')),
    '\r\n+CMGL: 1,0,,1\r\n07F\r\n+CMGL: 2,0,,99\r\n00040B91\r\n\r\nOK\r\n',
  );
  t.equal((await post(`${rack.url}/sms/raw`, { to: HELLO.to, pdu: 'XY' })).status, 400);
});

t.test('GET /sms lists what modems sent', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  const before = new Date().toISOString();
  await terminal.message('AT+CMGS=24', SUBMIT);
  const part = '0051000B915155001032F40000000F05000342020282C16030180C0601';
  await terminal.message('AT+CMGS=28', part);
  const all = await request(`${rack.url}/sms`);
  const [first, second] = all.body as { at: string }[];
  t.same(all.body, [
    {
      id: 1,
      at: first?.at,
      at_ms: Date.parse(first?.at ?? ''),
      imei: modem.imei,
      iccid: modem.identity.iccid,
      from: '+12065550100',
      to: '+15550001234',
      body: 'Hello world',
      encoding: 'gsm7',
      pdu: SUBMIT,
      message_reference: 0,
      concat: null,
    },
    {
      id: 2,
      at: second?.at,
      at_ms: Date.parse(second?.at ?? ''),
      imei: modem.imei,
      iccid: modem.identity.iccid,
      from: '+12065550100',
      to: '+15550001234',
      body: 'AAAAAAAA',
      encoding: 'gsm7',
      pdu: part,
      message_reference: 1,
      concat: { reference: 0x42, total: 2, part: 2 },
    },
  ]);
  const ids = async (since: string) =>
    ((await request(`${rack.url}/sms?since=${since}`)).body as { id: number }[]).map(({ id }) => id);
  t.same(await ids('0'), [1, 2]);
  t.same(await ids('1'), [2]);
  t.same(await ids('2'), []);
  t.same(await ids(before), [1, 2]);
  t.same(await ids(before.replace('Z', '+00:00')), [1, 2]);
  t.same(await ids('2100-01-01T00:00:00Z'), []);
  for (const since of ['', 'x', '-1', '2020-01-01', '2020-13-01T00:00:00Z']) {
    t.match(await request(`${rack.url}/sms?since=${since}`), {
      status: 400,
      body: { error: 'invalid_request' },
    });
  }
});

t.test('faults are set, shown, and cleared', async (t) => {
  const { rack, modem } = await startModem(t);
  const url = `${rack.url}/modems/${modem.imei}/faults`;
  t.match(await post(url, { kind: 'lose_result', count: 3 }), {
    status: 200,
    body: { faults: [{ kind: 'lose_result', count: 3 }] },
  });
  t.match(await post(url, { kind: 'unplug' }), { body: { state: 'unplugged' } });
  t.match(await request(url, { method: 'DELETE' }), { body: { state: 'registered', faults: [] } });
  t.match(await post(url, { kind: 'nonsense' }), {
    status: 400,
    body: { error: 'invalid_fault', message: /silent/ },
  });
  t.match(await post(url, { kind: 'unplug', as: 'm1' }), { status: 400, body: { error: 'invalid_fault' } });
  const { usb, slot } = (await request(`${rack.url}/modems/${modem.imei}`)).body as {
    usb: { path: string };
    slot: string;
  };
  t.match(usb.path, /^1-1\.\d$/);
  for (const name of [slot, usb.path])
    t.match(await request(`${rack.url}/modems/${name}`), { status: 200, body: { imei: modem.imei } }, name);
  t.match(await post(`${rack.url}/modems/123/faults`, { kind: 'reset' }), {
    status: 404,
    body: { error: 'unknown_modem', message: new RegExp(`Slots of this rack: ${slot} \\(${usb.path}\\)`) },
  });
});

t.test('unknown paths, wrong methods and no HTTP at all', async (t) => {
  const rack = await startRack(t);
  t.match(await request(`${rack.url}/nowhere`), { status: 404, body: { error: 'not_found' } });
  t.match(await request(`${rack.url}//`), { status: 404 });
  const wrong = await fetch(`${rack.url}/sms`, { method: 'PUT' });
  t.equal(wrong.status, 405);
  t.equal(wrong.headers.get('allow'), 'GET, POST');
  const socket = connect(Number(new URL(rack.url).port), '127.0.0.1');
  socket.end('nonsense\r\n\r\n');
  await new Promise((resolve) => socket.on('close', resolve).resume());
  t.equal((await request(`${rack.url}/modems`)).status, 200);
});

t.test('web pages get nothing, whatever name they give the rack', async (t) => {
  const rack = await startRack(t);
  const status = (headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const asked = get(`${rack.url}/modems`, { headers }, (answer) => resolve(answer.resume().statusCode));
      asked.on('error', reject);
    });
  const upgrade = { connection: 'upgrade', upgrade: 'websocket' };
  for (const headers of [
    { origin: 'https://attacker.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { host: 'attacker.example' },
    { host: '127.0.0.1.attacker.example:8700' },
    { ...upgrade, origin: 'https://attacker.example' },
    { ...upgrade, host: 'attacker.example' },
  ])
    t.equal(await status(headers), 403, JSON.stringify(headers));
  for (const headers of [{}, { host: 'localhost:8700' }, { host: '[::1]' }, { 'sec-fetch-site': 'none' }])
    t.equal(await status(headers), 200, JSON.stringify(headers));
  const refused = await request(`${rack.url}/sms`, { headers: { origin: 'null' } });
  t.match(refused.body, { error: 'forbidden', message: /web pages/ });
});

t.test('the voice port takes samples and gives nothing', async (t) => {
  const { modem, terminal } = await startModem(t);
  const voice = new Terminal(modem.portPaths.pcm);
  t.teardown(() => voice.close());
  // Four seconds of voice, far more than a terminal holds.
  await voice.flood('\0'.repeat(320), 200);
  t.equal(await terminal.command('AT'), '\r\nOK\r\n');
  t.equal(await voice.quietFor(20), '');
});

t.test('commands on one modem go on while another is written to and never read', async (t) => {
  const { rack, terminal } = await startModem(t);
  const unread = await quietTerminal(t, rack.modems[1]?.portPaths.at ?? '');
  unread.pause();
  await unread.flood('ATI\r', 20_000);
  // Processor time: other processes on a busy machine do not count.
  const before = process.cpuUsage();
  for (let round = 0; round < 50; round++) await terminal.command('AT');
  const { system, user } = process.cpuUsage(before);
  t.ok((system + user) / 1000 < 2000);
});

t.test('a modem whose place has another one by now stays away', async (t) => {
  const rack = await startRack(t);
  const modems = async () =>
    (await request(`${rack.url}/modems`)).body as { imei: string; state: string; usb: { path: string } }[];
  const [first, second] = await modems();
  const faults = (imei = ''): string => `${rack.url}/modems/${imei}/faults`;
  await post(faults(first?.imei), { kind: 'unplug' });
  await post(faults(second?.imei), { kind: 'unplug', back_after_ms: 0, usb_path: first?.usb.path });
  await until('the other one is there', async () =>
    (await modems()).some(({ imei, usb }) => imei === second?.imei && usb.path === first?.usb.path),
  );
  const answer = await request(faults(first?.imei), { method: 'DELETE' });
  t.match(answer, {
    status: 409,
    body: { error: 'place_taken', message: /there is a device at 1-1\.\d already/ },
  });
});

for (const [name, path, header] of [
  ['of a web page', '/calls/1/audio', 'Origin: https://page.example\r\n'],
  ['for a call that is unknown', '/calls/1/audio', ''],
] as const)
  t.test(
    `a client that is refused a WebSocket ${name}, and stays, does not keep it from stopping`,
    async (t) => {
      const rack = await startRack(t);
      const { port } = new URL(rack.url);
      const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
      t.teardown(() => socket.destroy());
      socket.on('error', () => undefined);
      let text = '';
      socket.on('data', (chunk) => {
        text += String(chunk);
      });
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${header}Connection: Upgrade\r\nUpgrade: websocket\r\n` +
          `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${'A'.repeat(22)}==\r\n\r\n`,
      );
      await until('the refusal', () => /^HTTP\/1\.1 40[34] .*\r\n\r\n$/s.test(text));
      let isStopped = false;
      void rack.stop().then(() => {
        isStopped = true;
      });
      await until('it has stopped', () => isStopped);
    },
  );
