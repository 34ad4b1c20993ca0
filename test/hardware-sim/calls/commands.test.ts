// Commands of call control at a terminal (3GPP TS 27.007 §6 and §7, ITU-T V.250 §6.3).
import t from 'tap';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import { request } from '../../fixtures/network/json-request.ts';
import { until } from '../../fixtures/until.ts';
import { callOf } from '../fixtures/call-terminal.ts';
import { EventSource } from '../fixtures/event-source.ts';
import { post } from '../fixtures/http.ts';
import { quietTerminal, startModem } from '../fixtures/rack.ts';

const FAR = '+15550001111';
const CALLER = '+15550002222';
const OK = '\r\nOK\r\n';

t.test('dial strings: what is dialled, hidden, shown, refused', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  await terminal.command('AT+CMEE=1');
  const dialled: [string, object][] = [
    ['ATD+15550001111;', { from: modem.number, to: FAR }],
    ['ATD+15550001111I;', { from: null, to: FAR }],
    ['AT+CLIR=1;D5550001111;', { from: null, to: '5550001111' }],
    ['ATD5550001111i;', { from: modem.number, to: '5550001111' }],
    ['AT+CLIR=0;DT2065550199;', { from: modem.number, to: '+12065550199' }],
    ['ATD*672065550199;', { from: modem.number, to: '*672065550199' }],
    ['ATD12065550199;', { to: '+12065550199' }],
  ];
  for (const [index, [line, record]] of dialled.entries()) {
    t.equal(await terminal.command(line), OK, line);
    t.match(await callOf(rack.url, index + 1), record, line);
    t.equal(await terminal.command('ATH'), OK);
  }
  for (const line of ['ATD;', 'ATD>1;', 'ATDhello;', `ATD${'1'.repeat(41)};`, 'ATD']) {
    t.match(await terminal.command(line), '+CME ERROR: 50', line);
  }
  t.equal(await terminal.command('ATD5550001111'), '\r\nNO CARRIER\r\n', 'a data call');
  t.equal(((await request(`${rack.url}/calls`)).body as unknown[]).length, dialled.length);
});

t.test('without a network, without a card, and during a call nothing is dialled', async (t) => {
  const { modem, terminal } = await startModem(t);
  await terminal.command('AT+CMEE=1');
  await terminal.command(`ATD${FAR};`);
  t.match(await terminal.command(`ATD${FAR};`), '+CME ERROR: 3');
  await terminal.command('ATH');
  modem.play(parseFault({ kind: 'not_registered' }));
  t.match(await terminal.command(`ATD${FAR};`), '+CME ERROR: 30');
  modem.clearFaults();
  modem.play(parseFault({ kind: 'sim', state: 'not_inserted' }));
  t.match(await terminal.command(`ATD${FAR};`), '+CME ERROR: 10');
  t.match(await terminal.command('ATA'), 'NO CARRIER');
});

t.test('hanging up: ATH unless +CVHU=1, +CHUP always, +QHUP with a cause', async (t) => {
  const { rack, terminal } = await startModem(t);
  const up = async (): Promise<void> => {
    await terminal.command(`ATD${FAR};`);
    await until('the answer', async () => (await terminal.command('AT+CLCC')).includes('+CLCC: 1,0,0'));
  };
  await up();
  t.equal(await terminal.command('AT+CVHU=1'), OK);
  t.equal(await terminal.command('ATH0'), OK);
  t.match(await terminal.command('AT+CLCC'), '+CLCC: 1,0,0');
  t.equal(await terminal.command('AT+CVHU=0;H'), OK);
  t.equal(await terminal.command('AT+CLCC'), OK);
  await up();
  t.equal(await terminal.command('AT+CHUP'), OK);
  await up();
  t.equal(await terminal.command('AT+QHUP=31,1'), OK);
  const { body } = await request(`${rack.url}/calls`);
  t.match(body, [
    { cause: 16, ended_by: 'origin' },
    { cause: 16, ended_by: 'origin' },
    { cause: 31, ended_by: 'origin' },
  ]);
  t.equal(await terminal.quietFor(50), '', 'no NO CARRIER for what was hung up here');
});

t.test('a second caller finds the line busy, or waits when +CCWA says so', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  const ring = (from: string) => post(`${rack.url}/calls`, { from, to: modem.number });
  await terminal.command(`ATD${FAR};`);
  await until('the answer', async () => (await terminal.command('AT+CLCC')).includes('+CLCC: 1,0,0'));
  await terminal.command('AT+CCWA=0,0,1');
  t.match(await ring(CALLER), { status: 409, body: { error: 'line_busy' } });
  await terminal.command('AT+CCWA=1,1,1;+CLIP=1');
  t.match(await ring(CALLER), { status: 202, body: { id: 3 } });
  await terminal.expect(`\r\n+CCWA: "${CALLER}",145,1\r\n`);
  t.match(await terminal.command('AT+CLCC'), `+CLCC: 2,1,5,0,0,"${CALLER}",145`);
  t.equal(await terminal.command('AT+CHLD=0'), OK);
  t.match(await callOf(rack.url, 3), { state: 'ended', cause: 17, ended_by: 'destination' });
  t.match(await ring(CALLER), { body: { id: 4 } });
  t.match(await terminal.command('AT+CHLD=11'), OK, 'the first call ends');
  await terminal.expect(`\r\nRING\r\n\r\n+CLIP: "${CALLER}",145,,,,0\r\n`);
  t.equal(await terminal.command('ATA'), OK);
  t.match(await callOf(rack.url, 4), { state: 'answered' });
  t.match(await ring(FAR), { body: { id: 5 } });
  t.match(await terminal.command('AT+CHLD=1'), /OK/);
  t.match(await callOf(rack.url, 5), { state: 'answered' });
  await terminal.command('AT+CMEE=1');
  t.match(await terminal.command('AT+CHLD=3'), '+CME ERROR: 4');
  t.match(await terminal.command('AT+CHLD=15'), '+CME ERROR: 21');
});

t.test('keys that the modem presses are heard of by the far end, one after another', async (t) => {
  const { rack, terminal } = await startModem(t);
  const events = await EventSource.open(t, rack.url);
  await terminal.command('AT+CMEE=1');
  t.match(await terminal.command('AT+VTS=1'), '+CME ERROR: 3', 'not without a call');
  await terminal.command(`ATD${FAR};`);
  await until('the answer', async () => (await terminal.command('AT+CLCC')).includes('+CLCC: 1,0,0'));
  for (const line of ['AT+VTD=1', 'AT+VTS=1', 'AT+VTS="2"', 'AT+VTS="#*",1', 'AT+QVTS="d"']) {
    t.equal(await terminal.command(line), OK, line);
  }
  for (const digit of ['1', '2', '#', '*', 'D']) {
    t.match((await events.next('dtmf')).data, { id: 1, by: 'origin', digit });
  }
  for (const line of ['AT+VTS=x', 'AT+VTS=', 'AT+VTS=1,999']) {
    t.match(await terminal.command(line), '+CME ERROR: 50', line);
  }
});

t.test('Huawei presses keys of a call by its index, other makes one at a time', async (t) => {
  const { rack, terminal } = await startModem(t, { makes: ['huawei'] });
  const events = await EventSource.open(t, rack.url);
  await terminal.command(`ATD${FAR};`);
  await terminal.expect('^CONN:1,0\r\n');
  t.equal(await terminal.command('AT^DTMF=1,5'), OK);
  t.match((await events.next('dtmf')).data, { digit: '5' });
  t.match(await terminal.command('AT^DTMF=2,5'), 'ERROR');
  t.match(await terminal.command('AT+VTS="55"'), 'ERROR');
});

t.test(
  'a call ends for the other side when the modem goes, restarts, or loses card or network',
  async (t) => {
    const { rack, modem, terminal } = await startModem(t, { bootMs: 0 });
    let id = 0;
    let line = terminal;
    const endsBy = async (what: string, step: () => unknown): Promise<void> => {
      await line.command(`ATD${FAR};`);
      id += 1;
      await until('the answer', async () => (await callOf(rack.url, id)).state === 'answered');
      await step();
      await until(what, async () => (await callOf(rack.url, id)).state === 'ended');
      t.match(await callOf(rack.url, id), { cause: 27, ended_by: 'network' }, what);
    };
    await endsBy('flight mode', async () => {
      t.match(await line.command('AT+CFUN=4'), OK);
      await line.expect('\r\nNO CARRIER\r\n');
      await line.command('AT+CFUN=1');
    });
    await endsBy('no network', async () => {
      modem.play(parseFault({ kind: 'not_registered' }));
      await line.expect('\r\nNO CARRIER\r\n');
      modem.clearFaults();
    });
    await endsBy('card out', () => {
      const { iccid } = modem.identity;
      rack.simCards.put(undefined, modem, { isAnnounced: true });
      rack.simCards.put(iccid, modem, { isAnnounced: true });
    });
    await endsBy('reset', () => modem.play(parseFault({ kind: 'reset' })));
    await line.command('ATE0');
    await endsBy('unplugged', () => modem.play(parseFault({ kind: 'unplug', back_after_ms: 0 })));
    await until('the modem', () => modem.state === 'registered');
    line = await quietTerminal(t, modem.portPaths.at);
    await endsBy('restart', () => line.command('AT+CFUN=1,1'));
  },
);

t.test('texts come and go during a call', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  await terminal.command(`ATD${FAR};`);
  await post(`${rack.url}/sms`, { from: CALLER, to: modem.number, body: 'Hi' });
  await terminal.expect('+CMTI: "SM",1');
  const sent = await terminal.message('AT+CMGS=24', '018131000B915155001032F40000000BC8329BFD06DDDF723619');
  t.match(sent, '+CMGS: ');
  t.match(await terminal.command('AT+CLCC'), '+CLCC: 1,0,0');
});
