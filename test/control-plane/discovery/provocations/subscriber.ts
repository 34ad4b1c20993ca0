// Answers to who has a number, by the name of the documented pair.
import { FAR_END } from '../../../fixtures/agents/telephone.ts';
import { withClient } from '../../../fixtures/agents/waiting-subscriber.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { until } from '../../../fixtures/until.ts';
import { type Answer, ask, post } from './ask.ts';
import type { Provocation } from './by-code.ts';
import { byEachFilter, byEachFilterAndPage, PERIOD } from './lists.ts';
import type { Stages } from './stages.ts';

const EMERGENCY = '+1911';
const OPTED_OUT = '+13105550177';

const get =
  (path: string) =>
  ({ good: { headers, url } }: Stages): Promise<Answer> =>
    ask(url, { method: 'GET', path }, { headers });

const remove = ({ good: { headers, url } }: Stages, path: string): Promise<Answer> =>
  ask(url, { method: 'DELETE', path }, { headers });

type Phone = Pick<Stages['good'], 'headers' | 'url' | 'number'>;

export const send = ({ headers, url }: Phone, to = FAR_END): Promise<Answer> =>
  post(url, '/sms/send', { to, body: 'hello' }, headers);

const dial = ({ headers, url, number }: Phone, to = FAR_END, phoneNumber = number): Promise<Answer> =>
  post(url, '/voice/dial', { phone_number: phoneNumber, to }, headers);

const hangUp = ({ headers, url }: Phone, callId: string): Promise<Answer> =>
  post(url, '/voice/hangup', { call_id: callId }, headers);

const callIdOf = ({ body }: Answer): string => String((body as Record<string, unknown>)['call_id']);

/** The call before may end only now. */
async function callOnce(phone: Phone): Promise<Answer> {
  const dialled = await until('a free line', async () => {
    const answer = await dial(phone);
    return answer.status === 200 ? answer : undefined;
  });
  return hangUp(phone, callIdOf(dialled));
}

export const SUBSCRIBER: Record<string, Provocation> = {
  'getNumber 200 -': get('/number'),
  'sendSms 200 -': ({ good }) => send(good),
  'sendSms 400 destination_not_allowed': ({ good }) => send(good, EMERGENCY),
  'sendSms 403 recipient_opted_out': async ({ good }) => {
    await withClient(good.databaseUrl, (client) =>
      client.query(
        'insert into opt_outs select id, $1, true, now() from subscriptions where number = $2 on conflict do nothing',
        [OPTED_OUT, good.number],
      ),
    );
    return send(good, OPTED_OUT);
  },
  'sendSms 502 phone_node_error': ({ away }) => send(away),
  'receiveSms 200 -': get('/sms/receive'),
  'listMessages 200 -': async (stages) => {
    await send(stages.good);
    await send(stages.good);
    const filters = { direction: 'sent', ...PERIOD };
    return byEachFilterAndPage((query) => get(`/sms/messages${query}`)(stages), filters);
  },
  'deleteMessage 204 -': async (stages) => {
    await send(stages.good);
    const { messages } = (await get('/sms/messages')(stages)).body as { messages: Array<{ id: number }> };
    return remove(stages, `/sms/messages/${messages[0]?.id}`);
  },
  'deleteMessage 404 message_not_found': (stages) => remove(stages, '/sms/messages/9007199254740991'),
  'deleteMessages 200 -': (stages) =>
    byEachFilter((query) => remove(stages, `/sms/messages${query}`), { direction: 'received', ...PERIOD }),
  'dialCall 200 -': async ({ good }) => {
    const answer = await dial(good);
    await hangUp(good, callIdOf(answer));
    return answer;
  },
  'dialCall 400 destination_not_allowed': ({ good }) => dial(good, EMERGENCY),
  'dialCall 403 forbidden': ({ good }) => dial(good, FAR_END, String(slotAt(3).number)),
  'dialCall 404 phone_number_not_found': ({ good }) => dial(good, FAR_END, '+12065559999'),
  'dialCall 409 subscription_not_bound': async ({ good: { url }, unbound }) =>
    dial({ ...(await unbound()), url }),
  'dialCall 409 line_busy': async ({ good }) => {
    const callId = callIdOf(await dial(good));
    const answer = await dial(good);
    await hangUp(good, callId);
    return answer;
  },
  'dialCall 502 phone_node_unreachable': ({ away }) => dial(away),
  'hangUpCall 200 -': ({ good }) => callOnce(good),
  'hangUpCall 404 call_not_found': ({ good }) => hangUp(good, 'call_of_nobody'),
  'hangUpCall 502 phone_node_error': ({ away }) => hangUp(away, away.callId),
  'listCalls 200 -': async (stages) => {
    await callOnce(stages.good);
    await callOnce(stages.good);
    const filters = { direction: 'outbound', ...PERIOD };
    return byEachFilterAndPage((query) => get(`/voice/calls${query}`)(stages), filters);
  },
  'listReceipts 200 -': (stages) =>
    byEachFilter((query) => get(`/receipts${query}`)(stages), { after: '1', limit: '1' }),
};
