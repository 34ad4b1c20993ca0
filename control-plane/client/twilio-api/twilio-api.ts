// A REST API like Twilio's in front of the service, for apps and bots that are written for Twilio: texts and calls.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { BotCall } from '../bridge/bot.ts';
import type { SimrackClient } from '../simrack-client.ts';
import { resourcePathOf, type TwilioAccount } from './account.ts';
import { type AnswerRequest, createApiServer } from './api-server.ts';
import { callJson } from './call-json.ts';
import { Callbacks } from './callbacks.ts';
import { Calls } from './calls.ts';
import { newAuthToken } from './credentials.ts';
import type { TwilioListQuery } from './list-query.ts';
import { messageJson } from './message-json.ts';
import { Messages } from './messages.ts';
import { postReceivedTexts } from './received-texts.ts';
import { accountSidOf, CallSids } from './sids.ts';

export interface TwilioApiOptions {
  /** One for each number. */
  clients: readonly SimrackClient[];
  host?: string | undefined;
  /** 0: any free one. */
  port?: number | undefined;
  /** By default one that is always the same for the first number. */
  accountSid?: string | undefined;
  /** By default a new one. */
  authToken?: string | undefined;
  /** Received texts are posted here. Without it they are not claimed. */
  textsUrl?: string | undefined;
  /** Verbs and attributes of TwiML, and parameters of requests, to leave out. */
  skipped?: readonly string[];
  /** Something happened that people should know. */
  onNote?: (words: string) => void;
}

export interface TwilioApi {
  /** Without a trailing slash. */
  url: string;
  accountSid: string;
  authToken: string;
  /** For `bridgeCalls`: bots know their calls as the API does. */
  nameCall: (callId: string) => Required<Pick<BotCall, 'accountId' | 'callSid'>>;
  /** Rejects when a number's token is not valid any more; resolves after `close`. */
  running: Promise<void>;
  /** Hangs up the calls of the API and ends it. */
  close: () => Promise<void>;
}

/** Throws `ApiError` for a token that is not valid, and the error of a port that cannot be used. */
export async function startTwilioApi(options: TwilioApiOptions): Promise<TwilioApi> {
  const {
    clients,
    host = '127.0.0.1',
    port = 0,
    textsUrl,
    skipped = [],
    onNote: note = () => undefined,
  } = options;
  const numbers = await Promise.all(clients.map((client) => client.number()));
  const ending = new AbortController();
  const { signal } = ending;
  const authToken = options.authToken ?? newAuthToken();
  const account: TwilioAccount = {
    sid: options.accountSid ?? accountSidOf(numbers[0]?.sub_account_id ?? ''),
    authToken,
    phones: numbers.map(({ number }, index) => ({ client: clients[index] as SimrackClient, number })),
    callSids: new CallSids(),
    callbacks: new Callbacks(authToken, { signal, onNote: note }),
    skipped,
    note,
    signal,
  };
  const [messages, calls] = [new Messages(account), new Calls(account)];
  const server = createApiServer(account, routesOf(account, { messages, calls }));
  server.listen(port, host);
  await once(server, 'listening');
  const { address, port: usedPort, family } = server.address() as AddressInfo;
  const running = Promise.all([
    ...account.phones.map((phone) => calls.watch(phone)),
    ...(textsUrl === undefined
      ? []
      : account.phones.map((phone) => postReceivedTexts({ account, messages, url: textsUrl }, phone))),
  ]).then(() => undefined);
  running.catch(() => undefined);
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${usedPort}`,
    accountSid: account.sid,
    authToken,
    nameCall: (callId) => ({ accountId: account.sid, callSid: account.callSids.of(callId) }),
    running,
    async close() {
      server.close();
      server.closeAllConnections();
      await calls.stop();
      ending.abort();
      await running.catch(() => undefined);
    },
  };
}

/** The resources, in Twilio's form: https://www.twilio.com/docs/usage/api */
function routesOf(
  account: TwilioAccount,
  { messages, calls }: { messages: Messages; calls: Calls },
): AnswerRequest {
  const json = { Messages: messageJson, Calls: callJson };
  return async ({ method, resource, fields }) => {
    const [name, sid, ...more] = resource.split('/');
    if (more.length > 0) return undefined;
    switch (`${method} ${name}${sid === undefined ? '' : '/sid'}`) {
      case 'POST Messages':
        return { status: 201, body: json.Messages(account, await messages.create(fields)) };
      case 'GET Messages':
        return {
          status: 200,
          body: listed(
            account,
            { name: 'Messages', fields, json: json.Messages },
            await messages.list(fields),
          ),
        };
      case 'GET Messages/sid':
        return answerOf(await messages.fetch(sid ?? ''), (view) => json.Messages(account, view));
      case 'DELETE Messages/sid':
        return (await messages.remove(sid ?? '')) ? DELETED : undefined;
      case 'POST Calls':
        return { status: 201, body: json.Calls(account, await calls.create(fields)) };
      case 'GET Calls':
        return {
          status: 200,
          body: listed(account, { name: 'Calls', fields, json: json.Calls }, await calls.list(fields)),
        };
      case 'GET Calls/sid':
        return answerOf(await calls.fetch(sid ?? ''), (view) => json.Calls(account, view));
      case 'POST Calls/sid':
        return answerOf(await calls.update(sid ?? '', fields), (view) => json.Calls(account, view));
      case 'DELETE Calls/sid':
        return (await calls.remove(sid ?? '')) ? DELETED : undefined;
      default:
        return undefined;
    }
  };
}

const DELETED = { status: 204 };

const answerOf = <V>(view: V | undefined, json: (view: V) => object) =>
  view === undefined ? undefined : { status: 200, body: json(view) };

/** https://www.twilio.com/docs/usage/twilios-response#pagination */
function listed<V>(
  account: TwilioAccount,
  {
    name,
    fields,
    json,
  }: {
    name: 'Messages' | 'Calls';
    fields: URLSearchParams;
    json: (account: TwilioAccount, view: V) => object;
  },
  { views, nextToken, query }: { views: V[]; nextToken?: string; query: TwilioListQuery },
): object {
  const { page, pageSize } = query;
  const uriOf = (place: Readonly<Record<string, string>>): string => {
    const search = new URLSearchParams(fields);
    for (const key of ['Page', 'PageToken', 'PageSize']) search.delete(key);
    for (const [key, value] of Object.entries({ PageSize: String(pageSize), ...place }))
      search.set(key, value);
    return `${resourcePathOf(account, name)}.json?${search}`;
  };
  return {
    [name.toLowerCase()]: views.map((view) => json(account, view)),
    page,
    page_size: pageSize,
    start: page * pageSize,
    end: page * pageSize + Math.max(0, views.length - 1),
    uri: uriOf({ Page: String(page), ...(query.token === undefined ? {} : { PageToken: query.token }) }),
    first_page_uri: uriOf({ Page: '0' }),
    previous_page_uri: null,
    next_page_uri: nextToken === undefined ? null : uriOf({ Page: String(page + 1), PageToken: nextToken }),
  };
}
