// The pure parts of the REST API: ids, lists over several numbers, names in a stream, and the TwiML of an answer to a text.
import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { TwilioRelay } from '#control-plane/client/bridge/twilio-relay.ts';
import { readTwilioList } from '#control-plane/client/twilio-api/listing.ts';
import { CallSids, messageIdOfSid, messageSidOf, randomSid } from '#control-plane/client/twilio-api/sids.ts';
import { readTextReplies } from '#control-plane/client/twilio-api/text-reply.ts';

t.test('ids contain those of the service, or are remembered', async (t) => {
  const sids = new CallSids();
  for (const callId of [`call_${randomUUID()}`, `call_${randomBytes(12).toString('hex')}`]) {
    const sid = sids.of(callId);
    t.match(sid, /^CA[0-9a-f]{32}$/);
    t.equal(new CallSids().callIdOf(sid), callId, 'after a restart, too');
    t.equal(sids.callIdOf(callId), callId);
  }
  const sid = sids.of('in-1');
  t.match(sid, /^CA[0-9a-f]{32}$/);
  t.equal(sids.callIdOf(sid), 'in-1');
  const given = randomSid('CA');
  sids.give('call_x', given);
  t.same([sids.of('call_x'), sids.callIdOf(given)], [given, 'call_x']);
  t.equal(sids.callIdOf('../../x'), undefined);
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
      (id) => messageIdOfSid(messageSidOf(id)) === id,
    ),
  );
  for (const wrong of [
    '',
    'SM',
    `SM${'0'.repeat(32)}`,
    `SM${'f'.repeat(32)}`,
    `MM${'0'.repeat(31)}1`,
    randomSid('SM'),
  ])
    t.equal(messageIdOfSid(wrong), undefined, wrong);
});

t.test(
  'a list over several numbers: each entry once, newest first, whatever the pages; later ones move nothing',
  async (t) => {
    const entry = fc.record({ at: fc.integer({ min: 0, max: 50 }), fits: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(entry, { maxLength: 30 }), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 9 }),
        async (numbers, servicePage, pageSize) => {
          const lists = numbers.map((entries, number) =>
            entries
              .map(({ at, fits }, index) => ({
                at: new Date(at).toISOString(),
                fits,
                key: `${number} ${index}`,
              }))
              .sort((a, b) => b.at.localeCompare(a.at)),
          );
          const sources = lists.map(
            (list) =>
              async ({ cursor, until }: { cursor?: string | undefined; until?: string | undefined }) => {
                const all = list.filter(({ at }) => until === undefined || at <= until);
                const start = Number(cursor ?? 0);
                const next = start + servicePage;
                return { rows: all.slice(start, next), next: next < all.length ? String(next) : null };
              },
          );
          const read: (typeof lists)[number] = [];
          let token: string | undefined;
          do {
            const page = await readTwilioList(sources, { pageSize, token, fits: ({ fits }) => fits });
            read.push(...page.rows);
            token = page.nextToken;
            for (const list of lists)
              list.unshift({ at: new Date(99).toISOString(), fits: true, key: 'later' });
          } while (token !== undefined);
          const wanted = lists.flat().filter(({ fits, key }) => fits && key !== 'later');
          t.same(read.map(({ key }) => key).sort(), wanted.map(({ key }) => key).sort());
          t.same(
            read.map(({ at }) => at),
            wanted
              .map(({ at }) => at)
              .sort()
              .reverse(),
          );
        },
      ),
      { numRuns: 200 },
    );
    await t.rejects(readTwilioList([], { pageSize: 1, token: 'x', fits: () => true }), { code: 20_001 });
  },
);

t.test('a stream has Twilio’s names from its start to its stop, also when it was opened again', async (t) => {
  const names = { accountSid: 'AC1', callSid: 'CA1' };
  const relay = new TwilioRelay({ customer: '42' }, names);
  const own = { accountSid: 'sub_1', callSid: 'call_1' };
  const event = (name: string, sequence: number, more: object): string =>
    JSON.stringify({ event: name, sequenceNumber: String(sequence), ...more, streamSid: 'MZ1' });
  const start = event('start', 1, { start: { ...own, customParameters: { from_number: '+1' } } });
  const toBot = (text: string): unknown => JSON.parse(relay.toBot(text) ?? 'null');
  t.match(toBot(start), { start: { ...names, customParameters: { from_number: '+1', customer: '42' } } });
  const media = event('media', 2, { media: { chunk: '1', timestamp: '0' } });
  t.equal(relay.toBot(media), media);
  relay.reopened();
  t.equal(relay.toBot(start), undefined);
  t.match(toBot(event('stop', 2, { stop: own })), { sequenceNumber: '4', stop: names });
});

t.test('answers to a text', async (t) => {
  const message = (inner: string): string =>
    `<?xml version="1.0" encoding="UTF-8"?><Response>${inner}</Response>`;
  t.same(readTextReplies(''), []);
  t.same(readTextReplies(message('')), []);
  t.same(
    readTextReplies(
      message('<Message>Hi &lt;you&gt;</Message><Message to="+12065550100"><Body>Two</Body></Message>'),
    ),
    [
      { body: 'Hi <you>', to: undefined, statusCallback: undefined },
      { body: 'Two', to: '+12065550100', statusCallback: undefined },
    ],
  );
  const refused: Array<[string, RegExp]> = [
    [message('<Redirect>http://x</Redirect>'), /<Redirect>. To go on without it, add --skip Redirect/],
    [message('<Message><Media>http://x</Media></Message>'), /<Media> in <Message>/],
    [message('<Message action="/x">Hi</Message>'), /attribute action/],
    [message('<Message>x</Message>'.repeat(11)), /more than 10/],
    ['ok', /not TwiML/],
  ];
  for (const [text, words] of refused)
    t.throws(() => readTextReplies(text), { name: 'BotError', message: words }, text);
  t.same(readTextReplies(message('<Redirect>x</Redirect>'), new Set(['Redirect'])), []);
});
