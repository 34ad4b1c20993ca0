// Properties of the AT channel under any bytes. A failure prints the seed and path that replay it.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { type AtCommand, atCommand, atQuery } from '#node-daemon/at/command.ts';
import { type Frame, Framer, LINE_LENGTH_MAX } from '#node-daemon/at/framer.ts';
import { setUp } from './channel-rig.ts';

const RUNS = { numRuns: 500 };
const PDU = '07915155000000F0040B915155000010F200005211211100000002C834';

/** Lines that modems send, and lines that they should not send. */
const said = fc.constantFrom(
  'OK',
  'ERROR',
  '+CME ERROR: 14',
  '+CMS ERROR: 314',
  'COMMAND NOT SUPPORT',
  'ERROR+CNUM:',
  '+CSQ: 21,99',
  '+CSQ: 99,99',
  '+CREG: 1',
  '+CREG: 2,1,"00A1","0001",7',
  '+CPIN: READY',
  '+CMTI: "SM",3',
  '+CMTI: ,-1',
  'RING',
  'NO CARRIER',
  '^BOOT:35323129,0,0,0,26',
  'RDY',
  '',
  '+CMT: ,21',
  '+CDS: 25',
  '+CMGR: 0,,21',
  '+CMGS: 7',
  PDU,
  PDU.slice(0, 9),
  '350000000000017',
  'AT+CSQ',
  '\x1bAT',
  '> ',
  '>',
  'AT+CMGS=21',
  '+CMEE: 1',
  'x'.repeat(LINE_LENGTH_MAX + 1),
);
const lineEnd = fc.constantFrom('\r\n', '\r', '\n', '\r\r\n', '\r\n\r\n', ' \r\n', '\0\r\n');
const noise = fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
const bytes = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: said },
      { weight: 3, arbitrary: lineEnd },
      { weight: 1, arbitrary: noise },
    ),
    {
      maxLength: 30,
    },
  )
  .map((parts) => parts.join(''));

/** The bytes cut at any places. */
const cut = (text: string, places: readonly number[]): string[] => {
  const cuts = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...cuts].map((start, index) => text.slice(start, cuts[index] ?? text.length));
};
const places = fc.array(fc.nat(10_000), { maxLength: 12 });

const COMMANDS: Readonly<Record<string, AtCommand>> = {
  query: atQuery('AT+CSQ', '+CSQ:'),
  plain: atCommand('AT+CMGD=3'),
  read: atCommand('AT+CMGR=1', { answer: /^\+CMGR:/, bodyAfter: /^\+CMGR:/ }),
  submit: atQuery('AT+CMGS=21', '+CMGS:', { body: PDU, timeoutMs: 60_000 }),
};
const command = fc.constantFrom(...Object.values(COMMANDS));

/** The modem says only the bytes of the test. */
function setUpSilent() {
  const rig = setUp();
  rig.port.on(/^/, () => undefined);
  return rig;
}

t.test('the same frames for every way of cutting the bytes', async (t) => {
  const frames = (chunks: readonly string[]): Frame[] => {
    const framer = new Framer();
    return chunks.flatMap((chunk) => framer.push(Buffer.from(chunk, 'latin1')));
  };
  fc.assert(
    fc.property(bytes, places, (text, at) => {
      assert.deepEqual(frames(cut(text, at)), frames([text]));
    }),
    RUNS,
  );
  t.pass('for all of them');
});

t.test('the same answer and the same URCs for every way of cutting the bytes', async (t) => {
  const run = async (asked: AtCommand, chunks: readonly string[]) => {
    const { port, channel, urcs } = setUpSilent();
    const outcome = channel.send(asked).then(
      (information) => ({ information }),
      (error: Error) => ({ error: error.message }),
    );
    for (const chunk of chunks) port.say(chunk);
    port.hangUp();
    return { outcome: await outcome, urcs };
  };
  await fc.assert(
    fc.asyncProperty(command, bytes, places, async (asked, text, at) => {
      assert.deepEqual(await run(asked, cut(text, at)), await run(asked, [text]));
    }),
    RUNS,
  );
  t.pass('for all of them');
});

t.test('garbage between the lines changes no answer, and the URCs in it keep their order', async (t) => {
  const line = fc
    .oneof(
      fc.stringMatching(/^[ -~]{1,40}$/),
      fc.constantFrom('+CMTI: "SM",1', 'RING', '^RSSI:17', '+CREG: 1', 'BUSY'),
    )
    .map((text) => text.trim())
    // Text that would be an answer, an end or a prompt is not garbage.
    .filter(
      (text) =>
        text !== '' &&
        !/^(OK$|ERROR|\+CM[ES] ERROR:|COMMAND NOT|\+CSQ:|> |\+(CMT|CDS|CBM):|AT\+CSQ$)/.test(text),
    );
  const garbage = fc.array(line, { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(garbage, garbage, garbage, places, async (before, within, after, at) => {
      const { port, channel, urcs } = setUpSilent();
      const answer = channel.send(atQuery('AT+CSQ', '+CSQ:'));
      const all = [...before, '+CSQ: 21,99', ...within, 'OK', ...after];
      for (const chunk of cut(all.map((text) => `\r\n${text}\r\n`).join(''), at)) port.say(chunk);
      assert.deepEqual(await answer, [{ line: '+CSQ: 21,99' }]);
      assert.deepEqual(
        urcs.map((urc) => urc.line),
        [...before, ...within, ...after],
      );
    }),
    RUNS,
  );
  t.pass('for all of them');
});

t.test(
  'a command succeeds only when the modem said its end, as a line of its own, after the command',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(bytes, bytes, async (earlier, text) => {
        const { port, channel } = setUpSilent();
        port.say(`${earlier}\r\n`);
        const outcome = channel.send(COMMANDS['query'] as AtCommand).then(
          (information) => information,
          () => undefined,
        );
        port.say(text);
        port.hangUp();
        const information = await outcome;
        if (information === undefined) return;
        const lines = text.split(/[\r\n]+/).map((each) => each.replaceAll('\0', '').trim());
        assert.ok(lines.includes('OK'), JSON.stringify(text));
        for (const each of information) assert.ok(lines.includes(each.line), JSON.stringify(text));
        assert.equal(information.length, 1);
      }),
      RUNS,
    );
    t.pass('for all of them');
  },
);

t.test('every command ends and few bytes are written, whatever the modem sends and when', async (t) => {
  const event = fc.oneof(bytes, fc.nat(20_000));
  await fc.assert(
    fc.asyncProperty(
      fc.array(command, { minLength: 1, maxLength: 4 }),
      fc.array(event, { maxLength: 12 }),
      async (asked, events) => {
        const { port, clock, channel } = setUpSilent();
        let open = asked.length;
        for (const each of asked) {
          channel.send(each).then(
            () => (open -= 1),
            () => (open -= 1),
          );
        }
        for (const each of events) {
          await turn();
          if (typeof each === 'string') port.say(each);
          else clock.advance(each);
        }
        // Each one may use its time up, and three signs of life after it.
        for (let step = 0; step < asked.length * 30 && open > 0; step += 1) {
          clock.advance(5_000);
          await turn();
        }
        assert.equal(open, 0);
        const said = events.filter((each) => typeof each === 'string').join('').length;
        assert.ok(port.received.length <= asked.length * 12 + said, 'no more than the modem makes us say');
      },
    ),
    { numRuns: 150 },
  );
  t.pass('for all of them');
});
