// Answers that every operation has, or every one with a body, a query or a token: provoked in the same way for all.
import { ALICE } from '../../../dev-stack/wallets.ts';
import type { Asked } from '../documented.ts';
import { type Answer, ask, askRaw, concrete, JSON_TYPE } from './ask.ts';
import type { Stages } from './stages.ts';

export type Provocation = (stages: Stages) => Answer | Promise<Answer>;

const UNKNOWN_TOKEN = { Authorization: `Bearer simrack_${'A'.repeat(43)}` };

const SIGNED = { wallet: ALICE.address, nonce: 'n', signature: `0x${'11'.repeat(65)}` };

/** A body that an operation takes, where it looks further than its form. */
const BODIES: Record<string, object> = {
  joinWaitlist: { email: 'someone@example.com' },
  signIn: SIGNED,
  listWalletReceipts: SIGNED,
};

let askers = 0;
/** An address without earlier requests. */
const newAddress = (): Record<string, string> => {
  askers += 1;
  return { 'X-Forwarded-For': `198.51.100.${askers}` };
};

/** Asks with all that lets an operation look into the database. */
const askDatabase =
  (asked: Asked, url: (stages: Stages) => string): Provocation =>
  (stages) => {
    const body = BODIES[asked.id];
    const headers = {
      ...UNKNOWN_TOKEN,
      // Only its page has something that can fail.
      ...(asked.id === 'getCatalog' ? { Accept: 'text/html' } : {}),
      ...(asked.id === 'subscribe' ? { 'X-PAYMENT': stages.payment } : {}),
    };
    if (asked.id === 'subscribe') headers.Authorization = '';
    return ask(url(stages), asked, { headers, ...(body === undefined ? {} : { body }) });
  };

/** By the code; what an operation does in its own way comes first. */
export const BY_CODE: Record<string, (asked: Asked) => Provocation> = {
  unauthorized: (asked) => (stages) => ask(stages.good.url, asked, { headers: UNKNOWN_TOKEN }),
  rate_limited: (asked) => async (stages) => {
    const headers = newAddress();
    await ask(stages.limited, asked, { headers });
    return ask(stages.limited, asked, { headers });
  },
  request_timeout:
    ({ method, path }) =>
    (stages) =>
      askRaw(stages.hasty, `${method} ${concrete(path)} HTTP/1.1\r\nHost: x\r\n`),
  headers_too_large:
    ({ method, path }) =>
    (stages) =>
      askRaw(
        stages.good.url,
        `${method} ${concrete(path)} HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`,
      ),
  internal_error: (asked) => askDatabase(asked, ({ broken }) => broken),
  unavailable: (asked) => askDatabase(asked, ({ unavailable }) => unavailable),
  invalid_request: (asked) => (stages) => {
    const headers = stages.good.headers;
    const { hasFields, method, path } = asked;
    if (!hasFields)
      return askRaw(stages.good.url, `${method} ${concrete(path)} HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n`);
    if (path.includes('{'))
      return ask(stages.good.url, { ...asked, path: path.replace(/\{\w+\}/, 'x') }, { headers });
    if (method !== 'POST') return ask(stages.good.url, asked, { headers, query: '?limit=0' });
    return ask(stages.good.url, asked, { headers, body: [] });
  },
  invalid_json: (asked) => (stages) =>
    ask(stages.good.url, asked, { headers: stages.good.headers, body: '{' }),
  payload_too_large: (asked) => (stages) =>
    ask(stages.good.url, asked, { headers: stages.good.headers, body: ' '.repeat(64 * 1024 + 1) }),
  unsupported_media_type: (asked) => (stages) => {
    const headers = { ...stages.good.headers, ...JSON_TYPE, 'Content-Type': 'text/plain' };
    return ask(stages.good.url, asked, { headers, body: '{}' });
  },
};
