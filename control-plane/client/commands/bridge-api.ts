// The options of `simrack bridge --api`: its address, its credentials and the app for texts.
import { isLoopback } from '#shared/loopback.ts';
import type { SimrackClient } from '../simrack-client.ts';
import { ACCOUNT_SID_PATTERN, newAuthToken } from '../twilio-api/credentials.ts';
import { isAppUrl } from '../twilio-api/fields.ts';
import type { TwilioApi } from '../twilio-api/twilio-api.ts';
import { UsageError } from './failures.ts';
import type { CommandSession, Environment } from './session.ts';

export interface ApiOptions {
  api?: string;
  texts?: string;
  skip?: string[];
}

export interface ApiPlan {
  host: string;
  port: number;
  accountSid: string | undefined;
  authToken: string;
  /** The auth token was made here: the user needs it. */
  isNewToken: boolean;
  textsUrl: string | undefined;
  skipped: string[];
}

/** Other machines can try tokens. */
const TOKEN_CHARACTERS_MIN = 16;

/** Undefined without `--api`. Throws `UsageError`. */
export function apiPlanOf(
  { api, texts, skip = [] }: ApiOptions,
  env: Environment,
  { prints }: { prints: boolean },
): ApiPlan | undefined {
  if (api === undefined) {
    if (texts !== undefined) throw new UsageError('--texts needs --api');
    return undefined;
  }
  if (texts !== undefined && !isAppUrl(texts))
    throw new UsageError(`not an http:// or https:// URL: ${texts}`);
  const { host, port } = addressOf(api);
  const accountSid = env['TWILIO_ACCOUNT_SID'] || undefined;
  const authToken = env['TWILIO_AUTH_TOKEN'] || undefined;
  if (accountSid !== undefined && !ACCOUNT_SID_PATTERN.test(accountSid))
    throw new UsageError('TWILIO_ACCOUNT_SID must be AC and 32 hexadecimal digits');
  if (!isLoopback(host) && (accountSid === undefined || authToken === undefined))
    throw new UsageError(
      `--api ${api}: other machines reach it. Set TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN.`,
    );
  if (!isLoopback(host) && (authToken ?? '').length < TOKEN_CHARACTERS_MIN)
    throw new UsageError(
      `TWILIO_AUTH_TOKEN must have ${TOKEN_CHARACTERS_MIN} characters or more with --api ${api}`,
    );
  if (authToken === undefined && !prints)
    throw new UsageError('--api with --json prints no new auth token: set TWILIO_AUTH_TOKEN');
  return {
    host,
    port,
    accountSid,
    authToken: authToken ?? newAuthToken(),
    isNewToken: authToken === undefined,
    textsUrl: texts,
    skipped: skip,
  };
}

/** `host:port` or a port alone; IPv6 in brackets. */
function addressOf(text: string): { host: string; port: number } {
  const [, host = '127.0.0.1', port = ''] = /^(?:(\[[\da-f:.]+\]|[\w.-]+):)?(\d{1,5})$/i.exec(text) ?? [];
  if (port === '' || Number(port) > 65_535)
    throw new UsageError(`--api: not an address such as 127.0.0.1:2010: ${text}`);
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** Throws `UsageError` for an address that cannot be used. */
export async function startApi(
  { output }: CommandSession,
  plan: ApiPlan,
  clients: readonly SimrackClient[],
): Promise<TwilioApi> {
  // Most commands do not need it.
  const { startTwilioApi } = await import('../twilio-api/twilio-api.ts');
  try {
    const api = await startTwilioApi({ ...plan, clients, onNote: (words) => output.note(words) });
    const token = plan.isNewToken ? `, TWILIO_AUTH_TOKEN=${api.authToken}` : '';
    output.note(`API at ${api.url}: TWILIO_ACCOUNT_SID=${api.accountSid}${token}`);
    return api;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE' || code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      throw new UsageError(`--api: ${message}`);
    throw error;
  }
}
