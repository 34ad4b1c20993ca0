// GET /events from outside: the events, in order, also for clients that come back or are slow.
import { connect } from 'node:net';
import t from 'tap';
import { request } from '../../fixtures/network/json-request.ts';
import { EventSource } from '../fixtures/event-source.ts';
import { post } from '../fixtures/http.ts';
import { startModem, startRack } from '../fixtures/rack.ts';

const SUBMIT = '018111000B915155001032F40000000BC8329BFD06DDDF723619';
const HELLO = { from: '+15550000012', to: '+12065550100', body: 'Hi' };

t.test('the events of a message: stored, announced, listed, deleted; and of one that leaves', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  const source = await EventSource.open(t, rack.url);
  const { body } = await post(`${rack.url}/sms`, HELLO);
  const { id } = body as { id: number };
  const { imei } = modem;
  t.match(await source.next('sms_delivered'), {
    data: { id, imei, kind: 'deliver', memory: 'SM', index: 1 },
  });
  t.match(await source.next('sms_announced'), { data: { id, imei, line: '+CMTI: "SM",1' } });
  await terminal.command('AT+CMGL=4');
  t.match(await source.next('sms_listed'), { data: { imei, memory: 'SM', entries: [{ index: 1, id }] } });
  await terminal.command('AT+CMGD=1');
  t.match(await source.next('sms_deleted'), { data: { imei, memory: 'SM', indexes: [1], ids: [id] } });
  await terminal.message('AT+CMGS=24', SUBMIT);
  t.match(await source.next('sms_submitted'), {
    data: { imei, to: '+15550001234', pdu: SUBMIT, message_reference: 0, at_ms: Number },
  });
});

t.test('faults, the plug and messages that must wait are events', async (t) => {
  const { rack, modem } = await startModem(t);
  const source = await EventSource.open(t, rack.url);
  modem.play({ kind: 'store_full' });
  await post(`${rack.url}/sms`, HELLO);
  t.match(await source.next('sms_waiting'), { data: { imei: modem.imei, waiting: 1 } });
  await request(`${rack.url}/modems/m0/faults`, { method: 'DELETE' });
  await source.next('faults_cleared');
  await source.next('sms_delivered');
  await post(`${rack.url}/modems/m0/faults`, { kind: 'unplug', back_after_ms: 1 });
  await source.next('fault_set');
  await source.next('modem_unplugged');
  t.match(await source.next('modem_plugged'), { data: { usb: { path: '1-1.1' } } });
});

t.test('a client that comes back gets what it has missed', async (t) => {
  const rack = await startRack(t);
  const first = await EventSource.open(t, rack.url);
  for (let count = 1; count <= 3; count++) rack.feed.publish('sms_waiting', { count });
  const { id } = await first.next('sms_waiting');
  await first.close();
  rack.feed.publish('sms_waiting', { count: 4 });
  const second = await EventSource.open(t, rack.url, id);
  const counts = [];
  for (let count = 2; count <= 4; count++) counts.push((await second.next('sms_waiting')).data['count']);
  t.same(counts, [2, 3, 4]);
  t.equal((await request(`${rack.url}/events?since=x`)).status, 400);
});

t.test('events that are kept no more are reported as lost', async (t) => {
  const rack = await startRack(t, { modems: 1, keepEvents: 10 });
  const start = rack.feed.lastId;
  for (let count = 1; count <= 50; count++) rack.feed.publish('sms_waiting', { count });
  const source = await EventSource.open(t, rack.url, start);
  t.match(await source.next('events_lost'), { data: { after: start, next: start + 41 } });
  t.match(await source.next('sms_waiting'), { id: start + 41, data: { count: 41 } });
  const fromBefore = await EventSource.open(t, rack.url, 1_000_000);
  t.match(await fromBefore.next('events_lost'), { data: { after: 1_000_000 } });
  t.match(await fromBefore.next('sms_waiting'), { data: { count: 41 } });
});

t.test('a client that does not read costs no memory, and reads on where it can', async (t) => {
  const rack = await startRack(t, { modems: 1, keepEvents: 20 });
  const socket = connect(Number(new URL(rack.url).port), '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.pause();
  socket.write('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const padding = 'x'.repeat(100_000);
  const total = 200;
  // The kernel's buffers take some megabytes; what is beyond them must not wait in the simulator.
  for (let count = 1; count <= total; count++) {
    rack.feed.publish('sms_waiting', { count, padding });
    if (count % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
  });
  socket.resume();
  while (!text.includes(`"count":${total},`)) await new Promise((resolve) => socket.once('data', resolve));
  t.match(text, /event: events_lost/);
  t.ok(text.length < total * padding.length, `${text.length} of ${total * padding.length} characters came`);
});
