// Answers about webhooks, by the name of the documented pair. Nothing listens where they lead.
import { type Answer, ask } from './ask.ts';
import type { Provocation } from './by-code.ts';
import { byEachFilterAndPage, SINCE } from './lists.ts';
import type { Stages } from './stages.ts';
import { send } from './subscriber.ts';

const UNKNOWN = 'wh_AAAAAAAAAAAAAAAA';
const NOWHERE = 'http://127.0.0.1:1/';

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

const asHolder = (
  { good: { headers, url } }: Stages,
  method: Method,
  path: string,
  body?: object,
): Promise<Answer> => ask(url, { method, path }, { headers, ...(body === undefined ? {} : { body }) });

const add = (stages: Stages, url = NOWHERE): Promise<Answer> =>
  asHolder(stages, 'POST', '/webhooks', { url });

/** The path of a webhook that exists. */
async function existing(stages: Stages): Promise<string> {
  const { body } = await asHolder(stages, 'GET', '/webhooks');
  const [first] = (body as { webhooks: { id: string }[] }).webhooks;
  const id = first?.id ?? ((await add(stages)).body as { id: string }).id;
  return `/webhooks/${id}`;
}

const about =
  (method: Method, path: string, body?: object): Provocation =>
  async (stages) =>
    asHolder(stages, method, (await existing(stages)) + path, body);

const aboutUnknown =
  (method: Method, path: string, body?: object): Provocation =>
  (stages) =>
    asHolder(stages, method, `/webhooks/${UNKNOWN}${path}`, body);

const CHANGE = { description: 'mine' };

export const WEBHOOKS: Record<string, Provocation> = {
  'addWebhook 200 -': (stages) => add(stages),
  'addWebhook 400 webhook_url_not_allowed': (stages) => add(stages, 'ftp://example.org/'),
  'addWebhook 409 webhook_limit_reached': async (stages) => {
    let answer = await add(stages);
    for (let count = 0; count < 10 && answer.status === 200; count += 1) answer = await add(stages);
    return answer;
  },
  'listWebhooks 200 -': (stages) => asHolder(stages, 'GET', '/webhooks'),
  'changeWebhook 200 -': about('PATCH', '', CHANGE),
  'changeWebhook 400 webhook_url_not_allowed': about('PATCH', '', { url: 'ftp://example.org/' }),
  'changeWebhook 404 webhook_not_found': aboutUnknown('PATCH', '', CHANGE),
  'deleteWebhook 204 -': about('DELETE', ''),
  'deleteWebhook 404 webhook_not_found': aboutUnknown('DELETE', ''),
  'rotateWebhookSecret 200 -': about('POST', '/rotate'),
  'rotateWebhookSecret 404 webhook_not_found': aboutUnknown('POST', '/rotate'),
  'testWebhook 200 -': about('POST', '/test'),
  'testWebhook 404 webhook_not_found': aboutUnknown('POST', '/test'),
  'listWebhookDeliveries 200 -': async (stages) => {
    const path = await existing(stages);
    await send(stages.good);
    await send(stages.good);
    const list = (query: string) => asHolder(stages, 'GET', `${path}/deliveries${query}`);
    return byEachFilterAndPage(list, { state: 'failed' });
  },
  'listWebhookDeliveries 404 webhook_not_found': aboutUnknown('GET', '/deliveries'),
  'replayWebhook 200 -': about('POST', '/replay', { since: SINCE }),
  'replayWebhook 404 webhook_not_found': aboutUnknown('POST', '/replay', { since: SINCE }),
  'replayWebhook 404 webhook_delivery_not_found': about('POST', '/replay', { delivery_id: 999_999_999 }),
};
