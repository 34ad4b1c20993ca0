// The outcomes of a message: accepted, certainly refused with advice for a new command, or unknown.
import t from 'tap';
import { PROMPT_TIMEOUT_MS } from '#node-daemon/at/channel.ts';
import { SUBMIT_TIMEOUT_MS } from '#node-daemon/modem/sms/sms-submission.ts';
import { PARAMS, PDU, setUpOutbox } from '../../../fixtures/nodes/scripted-outbox.ts';
import { lines } from '../../../fixtures/nodes/scripted-port.ts';
import { until } from '../../../fixtures/until.ts';

t.test('certain failures are rejected with their code', async (t) => {
  for (const [code, body] of [
    ['cms_38', lines('+CMS ERROR: 38')],
    ['cms_21', lines('+CMS ERROR: 21')],
    ['cms_513', lines('+CMS ERROR: 513')],
    ['cme_30', lines('+CME ERROR: 30')],
  ] as const) {
    const { modem, start } = await setUpOutbox(t);
    const { send } = await start();
    modem.port.on(PDU, body);
    t.match(await send('c1'), { result: { status: 'rejected', code } }, code);
  }
});

t.test('failures after the PDU that say nothing are unknown', async (t) => {
  for (const answer of ['+CMS ERROR: 332', '+CMS ERROR: 500', 'ERROR', '+CME ERROR: 100']) {
    const { modem, start } = await setUpOutbox(t);
    const { send } = await start();
    modem.port.on(PDU, lines(answer));
    t.match(await send('c1'), { result: { status: 'unknown' } }, answer);
  }
});

t.test('any failure before the PDU is certain', async (t) => {
  for (const [code, answer] of [
    ['cms_500', '+CMS ERROR: 500'],
    ['modem_refused', 'ERROR'],
    ['cme_100', '+CME ERROR: 100'],
  ] as const) {
    const { modem, start } = await setUpOutbox(t);
    const { send } = await start();
    modem.port.on(/^AT\+CMGS/, lines(answer));
    t.match(await send('c1'), { result: { status: 'rejected', code } }, answer);
    t.equal(modem.port.count(PDU), 0);
  }
});

t.test(
  'a prompt that does not come is a certain failure, an answer that does not come is none',
  async (t) => {
    const { clock, modem, start } = await setUpOutbox(t);
    const { send } = await start();
    modem.port.on(/^AT\+CMGS/, () => undefined);
    const promptless = send('c1');
    await until('the command', () => modem.port.count(/^AT\+CMGS/) === 1);
    clock.advance(PROMPT_TIMEOUT_MS);
    t.match(await promptless, {
      result: { status: 'rejected', code: 'modem_silent', message: /^the modem did not answer/ },
    });
    const other = await start();
    modem.port.on(PDU, () => undefined);
    const answerless = other.send('c2');
    await until('the message', () => modem.port.count(PDU) === 1);
    clock.advance(SUBMIT_TIMEOUT_MS);
    t.match(await answerless, { result: { status: 'unknown' } });
  },
);

t.test('a port that is lost after the PDU leaves it unknown, and what waits is refused', async (t) => {
  const { modem, start } = await setUpOutbox(t);
  const { send } = await start();
  modem.port.on(PDU, () => undefined);
  const sent = send('c1');
  const waiting = send('c2');
  await until('the message', () => modem.port.count(PDU) === 1);
  modem.port.hangUp();
  t.match(await sent, { result: { status: 'unknown' } });
  t.match(await waiting, { ok: false, code: 'slot_unavailable' });
});

t.test('a message that cannot be encoded is rejected, never sent, and the next one goes out', async (t) => {
  const { modem, start } = await setUpOutbox(t);
  const { journal, outbox, send } = await start();
  const params = { ...PARAMS, to: '+1555000123456789012345' };
  const failed = outbox.send({ commandId: 'bad', params, deadlineAt: Number.POSITIVE_INFINITY });
  const next = send('c1');
  t.match(await failed, { status: 'rejected', code: 'not_encodable' });
  t.match(await next, { result: { status: 'accepted' } });
  t.equal(modem.port.count(PDU), 1);
  t.equal(journal.state.commands.get('bad')?.outcome?.status, 'rejected');
});

t.test('every refusal says what is worth doing, in the words of the standard', async (t) => {
  // 3GPP TS 24.011 §8.2.5.4, 23.040 §9.2.3.22, 27.005 §3.2.5.
  for (const [code, name, worth] of [
    [1, 'unassigned number', 'final'],
    [8, 'operator determined barring', 'final'],
    [38, 'network out of order', 'retry'],
    [42, 'congestion', 'retry'],
    [43, 'reserved', 'retry'],
    [96, 'invalid mandatory information', 'final'],
    [192, 'service center busy', 'retry'],
    [208, 'SIM storage full', 'wait'],
    [304, 'invalid PDU mode parameter', 'final'],
    [310, 'SIM not inserted', 'wait'],
    [314, 'SIM busy', 'retry'],
    [330, 'service center address unknown', 'wait'],
    [331, 'no network service', 'wait'],
  ] as const) {
    const { modem, start } = await setUpOutbox(t);
    const { send } = await start();
    modem.port.on(PDU, lines(`+CMS ERROR: ${code}`));
    t.match(await send('c1'), {
      result: { status: 'rejected', code: `cms_${code}`, class: worth, message: new RegExp(`^${name} `) },
    });
  }
});

t.test('a text that the modem or the network may have sent is unknown: it is not repeated', async (t) => {
  for (const answer of ['+CMS ERROR: 332', '+CMS ERROR: 197', '+CMS ERROR: 9999', '+CME ERROR: 31']) {
    const { modem, start } = await setUpOutbox(t);
    const { send } = await start();
    modem.port.on(PDU, lines(answer));
    t.match(await send('c1'), { result: { status: 'unknown' } }, answer);
  }
});

t.test(
  'a later segment that fails: the segments that went out are reported, never that nothing was sent',
  async (t) => {
    const { modem, start } = await setUpOutbox(t);
    const { journal, send } = await start();
    let given = 0;
    modem.port.on(PDU, () => {
      given += 1;
      return given === 2 ? lines('+CMS ERROR: 38') : lines(`+CMGS: ${given}`, 'OK');
    });
    t.match(await send('c1', { body: 'x'.repeat(400), segments_max: 3 }), {
      result: {
        status: 'unknown',
        message: /^segment 1 was sent, but not the whole message: segment 2 of 3: network out of order/,
      },
    });
    t.equal(given, 2, 'the rest is not sent');
    t.same(journal.state.commands.get('c1')?.references, [1]);
  },
);

t.test('a first segment that is refused is a refusal of the message', async (t) => {
  const { modem, start } = await setUpOutbox(t);
  const { send } = await start();
  modem.port.on(PDU, lines('+CMS ERROR: 38'));
  t.match(await send('c1', { body: 'x'.repeat(400), segments_max: 3 }), {
    result: { status: 'rejected', code: 'cms_38', message: /^segment 1 of 3: / },
  });
});

t.test('an answer that comes late settles its message, while no other was given', async (t) => {
  const { clock, modem, start } = await setUpOutbox(t);
  const { journal, send } = await start();
  modem.port.on(PDU, () => undefined);
  const sent = send('c1');
  await until('the message', () => modem.port.count(PDU) === 1);
  clock.advance(SUBMIT_TIMEOUT_MS);
  t.match(await sent, { result: { status: 'unknown' } });
  modem.port.say(lines('+CMGS: 77', 'OK'));
  await until('the outcome', () => journal.state.commands.get('c1')?.outcome?.status === 'accepted');
  t.match(await send('c1'), { result: { status: 'accepted', message_references: [77] } });
  modem.port.say(lines('+CMGS: 78', 'OK'));
  t.match(await send('c1'), { result: { message_references: [77] } }, 'another one belongs to no text');
});
