// SIM cards: moved with their messages, locked, gone.
import t from 'tap';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import { request } from '../../fixtures/network/json-request.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';
import { post } from '../fixtures/http.ts';
import { quietTerminal, startModem, startRack } from '../fixtures/rack.ts';

const HELLO = { from: '+15550000012', to: '+12065550100', body: 'Hi' };
const SUBMIT = '018111000B915155001032F40000000BC8329BFD06DDDF723619';

t.test('swap: number, ICCID, IMSI and stored messages change places', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  const [, other] = rack.modems;
  const { iccid, imsi, number } = modem.identity;
  rack.carrier.send(HELLO);
  await terminal.expect('+CMTI: "SM",1\r\n');
  const { status, body } = await post(`${rack.url}/swap`, { modems: ['m0', other?.imei] });
  t.equal(status, 200);
  t.match(body, [
    { slot: 'm0', number: '+12065550101' },
    { slot: 'm1', number, iccid, imsi },
  ]);
  t.equal(await terminal.quietFor(30), '', 'without a word');
  t.match(await terminal.command('AT+CIMI'), /001010000000002/);
  t.match(await terminal.command('AT+CMGL=4'), /^\r\nOK\r\n$/);
  const second = await quietTerminal(t, other?.portPaths.at ?? '');
  t.match(await second.command('AT+QCCID;+CMGL=4'), new RegExp(`\\+QCCID: ${iccid}F.*\\+CMGL: 1,`, 's'));
  rack.carrier.send(HELLO);
  await second.expect('+CMTI: "SM",2');
  await second.message('AT+CMGS=24', SUBMIT);
  t.match([...rack.carrier.heard()], [{ from: number, imei: other?.imei, iccid }]);
});

t.test('a card moves into another modem, and out; messages wait for it', async (t) => {
  const { rack, modem, terminal } = await startModem(t, { makes: ['simcom', 'huawei'] });
  const [, other] = rack.modems;
  const { iccid, number } = modem.identity;
  const second = await quietTerminal(t, other?.portPaths.at ?? '');
  const put = (slot: string, card: string | null) =>
    post(`${rack.url}/modems/${slot}/sim`, { iccid: card, urc: true });
  t.match(await put('m0', null), { body: { iccid: null, number: null, state: 'no_sim' } });
  await terminal.expect('\r\n+SIMCARD: NOT AVAILABLE\r\n');
  t.match(await terminal.command('AT+CMEE=1;+CPIN?'), /\+CME ERROR: 10/);
  rack.carrier.send(HELLO);
  t.match((await request(`${rack.url}/sims`)).body, [
    { iccid, number, slot: null, waiting: 1 },
    { slot: 'm1' },
  ]);
  t.match(await put('m1', iccid), { body: { iccid, number, state: 'registered' } });
  await second.expect('\r\n^SIMST:255\r\n\r\n^SIMST:1\r\n');
  await second.expect('+CMTI: "SM",1');
  t.match((await request(`${rack.url}/sims`)).body, [{ slot: 'm1', waiting: 0 }, { slot: null }]);
  t.match(await put('m0', '123'), { status: 404, body: { error: 'unknown_sim' } });
  t.match(await post(`${rack.url}/swap`, { modems: ['m0'] }), { status: 400 });
});

t.test('cards stay where they were put when the rack starts again', async (t) => {
  const dir = temporaryFolder(t);
  const first = await startRack(t, { dir, modems: 3 });
  const [one, two, three] = first.modems;
  const numbers = [one, two, three].map((modem) => modem?.number);
  await post(`${first.url}/swap`, { modems: ['m0', 'm1'] });
  await post(`${first.url}/modems/m2/sim`, { iccid: null });
  await first.stop();
  const second = await startRack(t, { dir, modems: 3 });
  t.same(
    second.modems.map(({ number }) => number),
    [numbers[1], numbers[0], ''],
  );
  await second.stop();
  const smaller = await startRack(t, { dir, modems: 1 });
  t.equal(
    smaller.modems[0]?.number,
    numbers[0],
    'a card that this rack does not have is replaced by its own',
  );
});

t.test('a replacement card takes over the number and what waits; the old card is refused', async (t) => {
  const dir = temporaryFolder(t);
  const { rack, modem, terminal } = await startModem(t, { dir });
  const { iccid, number } = modem.identity;
  const issue = (wanted: object) => post(`${rack.url}/sims`, wanted);
  t.match(await terminal.command('AT+CEREG=3'), /OK/);
  const made = await issue({ number });
  t.match(made, { status: 201, body: { number, slot: null, state: 'ready', waiting: 0 } });
  const card = made.body as { iccid: string; imsi: string };
  await terminal.expect('+CEREG: 3,,,,0,2\r\n');
  t.equal(modem.state, 'denied');
  rack.carrier.send(HELLO);
  const second = await issue({ number });
  t.match(second.body, { waiting: 1 }, 'it waits for the newest card');
  const newest = second.body as { iccid: string; imsi: string };
  t.equal(new Set([iccid, card.iccid, newest.iccid]).size, 3);
  t.match(await post(`${rack.url}/modems/m0/sim`, { iccid: newest.iccid, urc: true }), {
    body: { iccid: newest.iccid, imsi: newest.imsi, number, state: 'registered' },
  });
  await terminal.expect('+CMTI: "SM",1');
  t.match(await issue({ number, iccid: newest.iccid }), { status: 409, body: { error: 'sim_exists' } });
  for (const wrong of [
    {},
    { number: '206' },
    { number, iccid: '1' },
    { number, imsi: 'x' },
    { number, pin: 1 },
  ])
    t.match(await issue(wrong), { status: 400, body: { error: 'invalid_request' } });
  await rack.stop();
  const [again] = (await startRack(t, { dir })).modems;
  t.match(again, { number, state: 'registered' }, 'cards are kept over a restart');
  t.equal(again?.identity.iccid, newest.iccid);
  t.equal(again?.stores.usage().SM.used, 1);
});

t.test('racks of other positions share no identity; a card goes from one to the other', async (t) => {
  const [here, there] = [await startRack(t), await startRack(t, { firstModem: 2 })];
  const all = [...here.modems, ...there.modems].map(({ identity }) => identity);
  for (const key of ['slot', 'imei', 'iccid', 'imsi', 'number'] as const)
    t.equal(new Set(all.map((identity) => identity[key])).size, 4, key);
  const { iccid, imsi, number } = (await request(`${here.url}/modems/m0`)).body as Record<string, string>;
  await post(`${here.url}/modems/m0/sim`, { iccid: null });
  t.match(await post(`${there.url}/sims`, { iccid, imsi, number }), { status: 201, body: { iccid, imsi } });
  t.match(await post(`${there.url}/modems/m2/sim`, { iccid }), {
    body: { number, imsi, state: 'registered' },
  });
  t.match(await post(`${there.url}/sms`, { from: '+15550000012', to: number, body: 'Hi' }), { status: 202 });
  t.equal(there.modems[0]?.stores.usage().SM.used, 1);
});

t.test('sim: gone and back, announced and not announced', async (t) => {
  const { modem, terminal } = await startModem(t);
  modem.play(parseFault({ kind: 'sim', state: 'not_inserted', urc: true, duration_ms: 40 }));
  await terminal.expect('\r\n+CPIN: NOT READY\r\n');
  await terminal.expect('\r\n+CPIN: READY\r\n\r\n+QUSIM: 1\r\n');
  t.equal(modem.state, 'registered');
  modem.play(parseFault({ kind: 'sim', state: 'not_inserted' }));
  t.equal(await terminal.quietFor(20), '');
  t.match(await terminal.command('AT+CMGL=4'), /\+CMS ERROR: 310/);
  modem.clearFaults();
  t.match(await terminal.command('AT+CPIN?'), /READY/);
});

t.test('sim pin: tries count down to the PUK, in the words of each make', async (t) => {
  for (const [make, query, two, none] of [
    ['quectel', 'AT+QPINC?', /\+QPINC: "SC",2,10/, /\+QPINC: "SC",0,10/],
    ['simcom', 'AT+SPIC', /\+SPIC: 2,10,/, /\+SPIC: 0,10,/],
    ['huawei', 'AT^CPIN?', /\^CPIN: SIM PIN,2,10,2,10,3/, /\^CPIN: SIM PUK,10,10,0,10,3/],
    ['generic', 'AT+CPINR', /\+CPINR: SIM PIN,2,3/, /\+CPINR: SIM PIN,0,3/],
  ] as const) {
    const { modem, terminal } = await startModem(t, { makes: [make] });
    modem.play(parseFault({ kind: 'sim', state: 'pin', tries: 2 }));
    t.match(await terminal.command(query), two, make);
    const askIccid = { quectel: 'AT+QCCID', simcom: 'AT+CICCID', huawei: 'AT^ICCID?', generic: 'AT+CCID' }[
      make
    ];
    t.match(await terminal.command(askIccid), /ICCID: |CCID: /, 'it answers with its identity');
    t.match(await terminal.command('AT+CMEE=1;+CPIN="0000"'), /\+CME ERROR: 16/);
    t.match(await terminal.command('AT+CPIN="0001"'), /\+CME ERROR: 16/);
    t.match(await terminal.command(query), none, make);
    t.match(await terminal.command('AT+CPIN?'), /\+CPIN: SIM PUK/);
    t.equal(modem.state, 'sim_locked');
    t.match(await terminal.command('AT+CPIN="12345678","4321"'), /OK/);
    t.equal(modem.state, 'registered');
  }
});

t.test('sim pin: the card asks again after each start, until that is switched off', async (t) => {
  const { modem, terminal } = await startModem(t, { bootMs: 1 });
  modem.play(parseFault({ kind: 'sim', state: 'pin' }));
  t.match(await terminal.command('AT+CPIN="1234"'), /OK/);
  t.match(await terminal.command('AT+CLCK="SC",2'), /\+CLCK: 1/);
  await terminal.command('AT+CFUN=1,1');
  await until('it is back', () => modem.state === 'sim_locked');
  const again = await quietTerminal(t, modem.portPaths.at);
  t.match(await again.command('AT+CPIN?'), /SIM PIN/);
  t.match(await again.command('AT+CPIN="1234"'), /OK/);
  t.match(await again.command('AT+CLCK="SC",0,"1234"'), /OK/);
  modem.reset();
  t.equal(modem.state, 'registered');
});
