// A request to an app that is written for Twilio: the form that Twilio sends, with its signature.
import { createHmac } from 'node:crypto';
import { fetchText } from './bot-request.ts';

export type TwilioMethod = 'GET' | 'POST';

export interface TwilioRequest {
  /** `http:` or `https:`. */
  url: string;
  method?: TwilioMethod | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  fields: Readonly<Record<string, string>>;
  /** The auth token that the app knows; without it the request is not signed. */
  authToken?: string | undefined;
}

/** Resolves with the body of the answer. Throws `BotError`, and the reason of `signal`. */
export function askTwilioApp(request: TwilioRequest, signal: AbortSignal): Promise<string> {
  const { target, ...init } = formOf(request);
  return fetchText(target, init, signal);
}

/** Fields are in the body of a POST, and in the query of a GET. */
function formOf({ url, method = 'POST', headers = {}, fields, authToken }: TwilioRequest) {
  const target = new URL(url);
  target.hash = '';
  if (method === 'GET')
    for (const [name, value] of Object.entries(fields)) target.searchParams.set(name, value);
  const signed = method === 'GET' ? {} : fields;
  return {
    target: target.href,
    method,
    headers: {
      ...headers,
      ...(authToken === undefined
        ? {}
        : { 'X-Twilio-Signature': signatureOf(authToken, target.href, signed) }),
    },
    ...(method === 'GET' ? {} : { body: new URLSearchParams(fields) }),
  };
}

/** https://www.twilio.com/docs/usage/security#validating-requests */
export function signatureOf(
  authToken: string,
  url: string,
  fields: Readonly<Record<string, string>>,
): string {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHmac('sha1', authToken)
    .update(url + sorted.flat().join(''))
    .digest('base64');
}
