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
  const resources = new Map([
    ['Messages', resourceOf(account, 'Messages', { source: messages, json: messageJson })],
    ['Calls', resourceOf(account, 'Calls', { source: calls, json: callJson })],
  ]);
  return async ({ method, resource, fields }) => {
    const [name = '', sid, ...more] = resource.split('/');
    return more.length > 0 ? undefined : resources.get(name)?.({ method, sid, fields });
  };
}

/** Messages or calls, as an app uses them. Undefined and false: the account has none with this id. */
interface Source<V> {
  create(fields: URLSearchParams): Promise<V>;
  list(fields: URLSearchParams): Promise<ListedViews<V>>;
  fetch(sid: string): Promise<V | undefined>;
  update?(sid: string, fields: URLSearchParams): Promise<V | undefined>;
  remove(sid: string): Promise<boolean>;
}

interface ListedViews<V> {
  views: V[];
  nextToken?: string;
  query: TwilioListQuery;
}

interface Resource<V> {
  source: Source<V>;
  json: (account: TwilioAccount, view: V) => object;
}

const resourceOf =
  <V extends object>(account: TwilioAccount, name: string, { source, json }: Resource<V>) =>
  async ({ method, sid, fields }: { method: string; sid: string | undefined; fields: URLSearchParams }) => {
    if (sid === undefined) {
      if (method === 'POST') return { status: 201, body: json(account, await source.create(fields)) };
      if (method !== 'GET') return undefined;
      const { views, ...page } = await source.list(fields);
      return {
        status: 200,
        body: listed(account, { name, fields }, { ...page, views: views.map((view) => json(account, view)) }),
      };
    }
    if (method === 'DELETE') return (await source.remove(sid)) ? { status: 204 } : undefined;
    const view =
      method === 'GET'
        ? await source.fetch(sid)
        : method === 'POST'
          ? await source.update?.(sid, fields)
          : undefined;
    return view && { status: 200, body: json(account, view) };
  };

/** https://www.twilio.com/docs/usage/twilios-response#pagination */
function listed(
  account: TwilioAccount,
  { name, fields }: { name: string; fields: URLSearchParams },
  { views, nextToken, query }: ListedViews<object>,
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
    [name.toLowerCase()]: views,
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
