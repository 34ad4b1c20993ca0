// A bot behind TwiML: each call asks a URL what to do, as Twilio does, and follows its <Connect><Stream>.
import { sleep, systemClock } from '#shared/clock.ts';
import { isLoopback } from '#shared/loopback.ts';
import { type Bot, type BotCall, BotError, type BotHost, type ConnectBot, twilioNamesOf } from './bot.ts';
import { askBot, filledBody } from './bot-request.ts';
import { connectSocketBot } from './socket-bot.ts';
import { askTwilioApp, type TwilioMethod } from './twilio-request.ts';
import { readTwiml } from './twiml.ts';

interface TwimlOptions {
  /** Verbs and attributes of TwiML to leave out. */
  skipped?: readonly string[];
}

interface TwimlBotOptions extends TwimlOptions {
  /** `http:` or `https:`. */
  url: string;
  method?: TwilioMethod;
  /** More headers of the request, such as an API key. */
  headers?: Readonly<Record<string, string>>;
  /** The auth token that the bot knows: requests are signed with it. */
  authToken?: string | undefined;
  /** `CallStatus` of the request; `ringing` by default. */
  callStatus?: string;
}

/** Asks `url` about each call. */
export const twimlBot =
  ({ url, method, headers, authToken, callStatus = 'ringing', skipped = [] }: TwimlBotOptions): ConnectBot =>
  async (call, host, signal) => {
    const fields = { ...twilioFieldsOf(call), CallStatus: callStatus };
    const twiml = await askTwilioApp({ url, method, headers, fields, authToken }, signal);
    return follow({ twiml, url, skipped, call }, host, signal);
  };

interface TwimlApiBotOptions extends TwimlOptions {
  /** `http:` or `https:`. */
  url: string;
  /** Headers of the request, such as an API key. */
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; see `filledBody`. */
  body: unknown;
}

/** Posts JSON about each call to an API that answers with TwiML. */
export const twimlApiBot =
  ({ url, headers = {}, body, skipped = [] }: TwimlApiBotOptions): ConnectBot =>
  async (call, host, signal) => {
    const twiml = await askBot({ url, headers, body: filledBody(body, call) }, signal);
    return follow({ twiml, url, skipped, call }, host, signal);
  };

/** Follows this document. */
export const givenTwimlBot =
  (twiml: string, { skipped = [] }: TwimlOptions = {}): ConnectBot =>
  (call, host, signal) =>
    follow({ twiml, skipped, call }, host, signal);

async function follow(
  { twiml, url, skipped, call }: { twiml: string; url?: string; skipped: readonly string[]; call: BotCall },
  host: BotHost,
  signal: AbortSignal,
): Promise<Bot> {
  const plan = readTwiml(twiml, new Set(skipped));
  if (plan.pauseSeconds > 0) await sleep(systemClock, plan.pauseSeconds * 1_000, signal);
  if (plan.stream === undefined) throw new BotError(endWordsOf(plan.endsWith, call));
  const { parameters } = plan.stream;
  const streamUrl = url === undefined ? plan.stream.url : streamUrlOf(plan.stream.url, url);
  const names = twilioNamesOf(call);
  return connectSocketBot({ url: streamUrl, protocol: 'twilio', parameters, names }, host, signal);
}

const endWordsOf = (verb: string | undefined, { direction }: BotCall): string =>
  (verb === undefined
    ? 'the TwiML of your app has no <Connect><Stream>'
    : `the TwiML of your app has <${verb}>`) +
  `, so the call was ${direction === 'inbound' ? 'rejected' : 'ended'}`;

/** https://www.twilio.com/docs/voice/twiml#request-parameters */
export function twilioFieldsOf({
  callId,
  callSid = callId,
  accountId,
  direction,
  from,
  to,
}: BotCall): Record<string, string> {
  const [caller, called] = [from ?? 'anonymous', to ?? ''];
  return {
    AccountSid: accountId,
    ApiVersion: '2010-04-01',
    CallSid: callSid,
    Called: called,
    Caller: caller,
    Direction: direction === 'inbound' ? 'inbound' : 'outbound-api',
    From: caller,
    To: called,
  };
}

/**
 * The URL of a stream that the app at `twimlUrl` named. Throws `BotError` if the far end's voice would leave unencrypted because a remote app
 * said so.
 *
 * Bots build the URL of their stream from the Host header and `wss:`, because Twilio reaches them through TLS. A bot that was asked without
 * TLS, at the same host and port, has no TLS there.
 */
export function streamUrlOf(streamUrl: string, twimlUrl: string): string {
  const [stream, twiml] = [new URL(streamUrl), new URL(twimlUrl)];
  if (twiml.protocol === 'http:' && stream.host === twiml.host) stream.protocol = 'ws:';
  if (twiml.protocol === 'https:' && stream.protocol === 'ws:' && !isLoopback(stream.hostname))
    throw new BotError(`the TwiML of ${twimlUrl} has a stream without TLS, at ${stream.host}`);
  return stream.href;
}
