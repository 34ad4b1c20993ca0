// Many messages at once: batches over HTTP, queues longer than the stores, both ways at the same time.
import t from 'tap';
import { request } from '../../fixtures/network/json-request.ts';
import { post } from '../fixtures/http.ts';
import { quietTerminal, startRack } from '../fixtures/rack.ts';
import type { Terminal } from '../fixtures/terminal.ts';

const SUBMIT = '018111000B915155001032F40000000BC8329BFD06DDDF723619';
const HELLO = { from: '+15550000012', to: '+12065550100', body: 'Hi' };

t.test('a batch gives a result for each message; one that is refused stops no other', async (t) => {
  const rack = await startRack(t);
  const batch = [HELLO, { ...HELLO, to: '+12065559999' }, { ...HELLO, body: 'A'.repeat(161) }];
  t.match(await post(`${rack.url}/sms`, batch), {
    status: 202,
    body: [{ id: 1, segments: 1 }, { error: 'unknown_number' }, { id: 2, segments: 2 }],
  });
  t.match(await post(`${rack.url}/sms`, [HELLO, { ...HELLO, body: '' }]), {
    status: 400,
    body: { error: 'invalid_request', message: /1: body/ },
  });
  t.equal(rack.modems[0]?.stores.used('SM'), 3, 'a batch with a bad message is refused as a whole');
  t.equal((await post(`${rack.url}/sms`, [])).status, 400);
  t.equal(
    (
      await post(
        `${rack.url}/sms`,
        Array.from({ length: 1001 }, () => HELLO),
      )
    ).status,
    400,
  );
});

/** Reads and deletes until as many have come. */
async function receive(terminal: Terminal, count: number): Promise<string[]> {
  const pdus: string[] = [];
  while (pdus.length < count) {
    const listing = await terminal.command('AT+CMGL=4', 20_000);
    for (const [, index, pdu] of listing.matchAll(/\+CMGL: (\d+),\d,,\d+\r\n([0-9A-F]+)\r\n/gi)) {
      pdus.push(String(pdu));
      await terminal.command(`AT+CMGD=${index}`, 20_000);
    }
  }
  return pdus;
}

t.test('each message arrives once and each that is sent is heard once, in order', async (t) => {
  const count = 400;
  const rack = await startRack(t, { modems: 4, capacities: { SM: 10 }, keep: 1_000 });
  // The number of a message is all its text: two octets of 8 bit data behind a time stamp.
  const numberOf = (pdu: string): number => Number.parseInt(pdu.slice(-4), 16);
  const deliver = (number: number): string =>
    `00040B915155000010F200045211211100000002${number.toString(16).padStart(4, '0')}`;
  const work = rack.modems.map(async (modem) => {
    const [reader, writer] = await Promise.all([
      quietTerminal(t, modem.portPaths.at),
      quietTerminal(t, modem.portPaths.at2),
    ]);
    const received = receive(reader, count);
    for (let number = 0; number < count; number++) {
      if (number % 2 === 0) await writer.message('AT+CMGS=24', SUBMIT);
      rack.carrier.sendRaw(modem.number, deliver(number), undefined);
    }
    return (await received).map(numberOf);
  });
  const expected = Array.from({ length: count }, (_, number) => number);
  for (const numbers of await Promise.all(work)) {
    t.same(
      [...numbers].sort((left, right) => left - right),
      expected,
    );
  }
  const heard = (await request(`${rack.url}/sms`)).body as {
    id: number;
    imei: string;
    message_reference: number;
  }[];
  t.equal(heard.length, (4 * count) / 2);
  t.same(
    heard.map(({ id }) => id),
    heard.map(({ id }) => id).sort((left, right) => left - right),
  );
  for (const { imei } of rack.modems) {
    const references = heard
      .filter((message) => message.imei === imei)
      .map((message) => message.message_reference);
    t.same(
      references,
      Array.from({ length: count / 2 }, (_, index) => index & 0xff),
    );
  }
});
