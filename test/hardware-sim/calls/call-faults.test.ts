// Faults of calls: what terminals see of those that are known from real modems.
import t from 'tap';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import { request } from '../../fixtures/network/json-request.ts';
import { until } from '../../fixtures/until.ts';
import { callOf } from '../fixtures/call-terminal.ts';
import { FAR } from '../fixtures/calling-modem.ts';
import { post } from '../fixtures/http.ts';
import { startModem } from '../fixtures/rack.ts';

const OK = '\r\nOK\r\n';

t.test('dial_stuck: the call is dialling until it is hung up, and the network knows of none', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  modem.play(parseFault({ kind: 'dial_stuck' }));
  t.equal(await terminal.command(`ATD${FAR};`), OK);
  t.match(await terminal.command('AT+CLCC'), `+CLCC: 1,0,2,0,0,"${FAR}",145`);
  t.same((await request(`${rack.url}/calls`)).body, []);
  t.match(await terminal.command('AT+CHUP'), 'OK');
  t.equal(await terminal.command('AT+CLCC'), OK);
});

t.test('connect_early: the answer is announced before the OK of ATD', async (t) => {
  const { modem, terminal } = await startModem(t, { makes: ['huawei'] });
  modem.play(parseFault({ kind: 'connect_early' }));
  t.match(await terminal.command(`ATD${FAR};`), /\^ORIG:1,0.*\^CONF:1.*\^CONN:1,0\r\n\r\nOK\r\n$/s);
  t.match(await terminal.command('AT+CLCC'), '+CLCC: 1,0,0');
});

t.test('call_end_lost: the call is gone from +CLCC without a word', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  await terminal.command('AT+QINDCFG="ccinfo",1,0');
  modem.play(parseFault({ kind: 'call_end_lost' }));
  await terminal.command(`ATD${FAR};`);
  await terminal.expect('"ccinfo",1,0,0,0,0,"+15550001111",145\r\n');
  await request(`${rack.url}/calls/1`, { method: 'DELETE' });
  t.equal(await terminal.command('AT+CLCC'), OK);
  t.equal(await terminal.quietFor(50), '');
});

t.test('hangup_fails: no answer or an error, and the call ends or goes on', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  const state = async (id: number) => (await callOf(rack.url, id)).state;
  await terminal.command(`ATD${FAR};`);
  await until('the answer', async () => (await state(1)) === 'answered');
  modem.play(parseFault({ kind: 'hangup_fails', answer: 'error', ends: false }));
  t.equal(await terminal.command('AT+CHUP'), '\r\nERROR\r\n');
  t.equal(await state(1), 'answered');
  modem.play(parseFault({ kind: 'hangup_fails' }));
  terminal.write('ATH\r');
  await until('the end', async () => (await state(1)) === 'ended');
  t.equal(await terminal.quietFor(50), '');
  t.equal(await terminal.command('AT'), OK, 'the next command is answered');
});

t.test('clip_late: the number comes with the second RING', async (t) => {
  const { rack, modem, terminal } = await startModem(t, { ringIntervalMs: 100 });
  await terminal.command('AT+CLIP=1');
  modem.play(parseFault({ kind: 'clip_late' }));
  await post(`${rack.url}/calls`, { from: FAR, to: modem.number });
  t.match(await terminal.expect('+CLIP: '), /^\r\nRING\r\n\r\nRING\r\n\r\n\+CLIP: $/);
});

t.test('clcc_data_line: a data bearer is listed beside the call', async (t) => {
  const { modem, terminal } = await startModem(t);
  modem.play(parseFault({ kind: 'clcc_data_line' }));
  t.equal(await terminal.command('AT+CLCC'), '\r\n+CLCC: 1,0,0,1,0,"",128\r\n\r\nOK\r\n');
  await terminal.command(`ATD${FAR};`);
  t.match(await terminal.command('AT+CLCC'), /\+CLCC: 1,0,\d,0,0,.*\+CLCC: 2,0,0,1,0,"",128\r\n/s);
});
