// Statuses of texts on a number whose history is longer than what a request for one text reads.
import t from 'tap';
import type { HistoryMessage, SimrackClient } from '#control-plane/client/simrack-client.ts';
import type { TwilioAccount } from '#control-plane/client/twilio-api/account.ts';
import { Callbacks } from '#control-plane/client/twilio-api/callbacks.ts';
import { Messages } from '#control-plane/client/twilio-api/messages.ts';
import { CallSids } from '#control-plane/client/twilio-api/sids.ts';

const NUMBER = '+12065550100';
const RECIPIENT = '+13105550188';
const MINUTE_MS = 60_000;

const rowOf = (id: number, at: Date): HistoryMessage =>
  ({
    id,
    direction: 'sent',
    from_number: NUMBER,
    to_number: RECIPIENT,
    body: `text ${id}`,
    message_id: `msg_${id}`,
    status: 'delivered',
    created_at: at.toISOString(),
  }) as HistoryMessage;

t.test('each text is searched for in its own minutes: later texts do not hide its status', async (t) => {
  const rows: HistoryMessage[] = [];
  let searched = 0;
  const client = {
    async sendLong({ body }: { body: string }) {
      const id = rows.length + 1;
      rows.push(rowOf(id, new Date()));
      return { messages: [{ body, message_id: `msg_${id}`, status: 'sent' }], replaced: [] };
    },
    async *history({ since, until }: { since: Date; until: Date }) {
      for (const row of rows.toReversed()) {
        const at = new Date(row.created_at);
        if (at < since || at > until) continue;
        searched += 1;
        yield row;
      }
    },
  } as unknown as SimrackClient;
  const { signal } = new AbortController();
  const account: TwilioAccount = {
    sid: `AC${'0'.repeat(32)}`,
    authToken: 'token',
    phones: [{ client, number: NUMBER }],
    callSids: new CallSids(),
    callbacks: new Callbacks('token', { signal, onNote: (words) => t.fail(words) }),
    skipped: [],
    note: (words) => t.fail(words),
    signal,
  };
  const messages = new Messages(account);
  const create = (body: string) =>
    messages.create(new URLSearchParams({ From: NUMBER, To: RECIPIENT, Body: body }));
  const first = await create('text 1');
  t.equal(first.status, 'sent');
  const begunMs = Date.now();
  // Outside its minutes: two thousand texts that follow in an hour.
  for (let count = 0; count < 2_000; count += 1)
    rows.push(rowOf(rows.length + 1, new Date(begunMs + 5 * MINUTE_MS + count * 1_000)));
  t.match(await messages.fetch(first.sid), { status: 'delivered', body: 'text 1' });
  t.equal(searched, 1, 'the later ones are not read');
  const second = await create('text 2002');
  // Within its minute: more than a request reads.
  for (let count = 0; count < 1_500; count += 1)
    rows.push(rowOf(rows.length + 1, new Date(Date.now() + 30_000)));
  searched = 0;
  t.match(await messages.fetch(second.sid), { status: 'sent' }, 'not found: its last status stays');
  t.equal(searched, 1_000, 'the search is bounded');
});
