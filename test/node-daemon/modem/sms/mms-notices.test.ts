// WAP pushes over a scripted port: an announced MMS is a message, any other push is reported as it is.
import t from 'tap';
import { LateParts, PARTS_WAIT_MS } from '#node-daemon/modem/sms/late-parts.ts';
import { silentLogger } from '#shared/log.ts';
import { PUSH_PARTS, PUSH_WITHOUT_END } from '../../../fixtures/nodes/mms-pushes.ts';
import { isEmpty, setUpInbox } from '../../../fixtures/nodes/scripted-inbox.ts';
import { until } from '../../../fixtures/until.ts';

const [FIRST, SECOND] = PUSH_PARTS;
const NOTICE = {
  kind: 'sms_received',
  from: '+447785342749',
  body: 'Picture message (MMS), 30 kB. The carrier keeps it until 2010-06-29T09:45Z. This number cannot fetch it. Ask the sender for a text.',
  partial: false,
  mms: {
    transaction_id: 'NOK5CiKcoTMYSG4MBSwAAsKv14FUHAAAAAAAA',
    size_bytes: 29_696,
    expires_at: '2010-06-29T09:45:46.000Z',
  },
};

t.test('a push of two parts in any order, across a kill', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const { crash, facts } = await start();
  modem.deliver(SECOND);
  await until('an empty store', () => isEmpty(modem));
  t.same(facts(), [], 'the first part is awaited');
  crash();
  const again = await start();
  modem.deliver(FIRST);
  await until('the notice', () => again.facts().length > 0);
  t.match(again.facts(), [NOTICE]);
  t.notMatch(JSON.stringify(again.facts()), 'servlets', 'the address of the picture stays on the node');
});

t.test('the end never comes: what is known is reported, a lone end as it is', async (t) => {
  for (const [pdu, expected] of [
    [PUSH_WITHOUT_END, { kind: 'sms_received', from: '+15122977683', mms: { size_bytes: 11_153 } }],
    [SECOND, { kind: 'sms_unreadable', pdu: SECOND, reason: /^data for port 2948/ }],
  ] as const) {
    const { clock, modem, start } = await setUpInbox(t);
    const { facts, journal } = await start();
    modem.deliver(pdu);
    await until('an empty store', () => isEmpty(modem));
    clock.advance(PARTS_WAIT_MS);
    await new LateParts({ journal, clock, log: silentLogger }).deliver();
    t.match(facts(), [expected]);
    t.equal(facts().length, 1);
  }
});

t.test('parts that are no announcement together are each reported', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const { facts } = await start();
  // The media type of the first is another one.
  const other = FIRST.replace('6D6D732D6D657373616765', '7878782D6D657373616765');
  modem.deliver(other, { index: 1 });
  modem.deliver(SECOND, { index: 2 });
  await until('both', () => facts().length === 2);
  t.match(facts(), [
    { kind: 'sms_unreadable', pdu: other },
    { kind: 'sms_unreadable', pdu: SECOND },
  ]);
});
