// Answers to who has a number, by the name of the documented pair.

import { FAR_END } from '../../../fixtures/agents/telephone.ts';
import { withClient } from '../../../fixtures/agents/waiting-subscriber.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { type Answer, ask, post } from './ask.ts';
import type { Provocation } from './by-code.ts';
import type { Stages } from './stages.ts';

const EMERGENCY = '+1911';
const OPTED_OUT = '+13105550177';

const get =
  (path: string): Provocation =>
  ({ good: { headers, url } }) =>
    ask(url, { method: 'GET', path }, { headers });

const remove = ({ good: { headers, url } }: Stages, path: string): Promise<Answer> =>
  ask(url, { method: 'DELETE', path }, { headers });

type Phone = Pick<Stages['good'], 'headers' | 'url' | 'number'>;

const send = ({ headers, url }: Phone, to: string): Promise<Answer> =>
  post(url, '/sms/send', { to, body: 'hello' }, headers);

const dial = ({ headers, url, number }: Phone, to = FAR_END, phoneNumber = number): Promise<Answer> =>
  post(url, '/voice/dial', { phone_number: phoneNumber, to }, headers);

const hangUp = ({ headers, url }: Phone, callId: string): Promise<Answer> =>
  post(url, '/voice/hangup', { call_id: callId }, headers);

const callIdOf = ({ body }: Answer): string => String((body as Record<string, unknown>)['call_id']);

export const SUBSCRIBER: Record<string, Provocation> = {
  'getNumber 200 -': get('/number'),
  'sendSms 200 -': ({ good }) => send(good, FAR_END),
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
  'sendSms 502 phone_node_error': ({ away }) => send(away, FAR_END),
  'receiveSms 200 -': get('/sms/receive'),
  'listMessages 200 -': get('/sms/messages'),
  'deleteMessage 204 -': async (stages) => {
    await send(stages.good, FAR_END);
    const { messages } = (await get('/sms/messages')(stages)).body as { messages: Array<{ id: number }> };
    return remove(stages, `/sms/messages/${messages[0]?.id}`);
  },
  'deleteMessage 404 message_not_found': (stages) => remove(stages, '/sms/messages/9007199254740991'),
  'deleteMessages 200 -': (stages) => remove(stages, '/sms/messages'),
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
  'hangUpCall 200 -': async ({ good }) => hangUp(good, callIdOf(await dial(good))),
  'hangUpCall 404 call_not_found': ({ good }) => hangUp(good, 'call_of_nobody'),
  'hangUpCall 502 phone_node_error': ({ away }) => hangUp(away, away.callId),
  'listCalls 200 -': get('/voice/calls'),
  'listReceipts 200 -': get('/receipts'),
};
