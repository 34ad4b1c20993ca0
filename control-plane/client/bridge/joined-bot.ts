// A bot of a voice service that gives each call a WebSocket of its own: its API is asked for the address, then the call joins it.
import { jsonOf } from '#shared/json.ts';
import { type BotCall, BotError, type ConnectBot } from './bot.ts';
import { askBot, filledBody } from './bot-request.ts';
import { connectSocketBot } from './socket-bot.ts';
import { ULTRAVOX_MESSAGES } from './ultravox-messages.ts';

const ULTRAVOX_FIELD = 'joinUrl';
/** Fields of the answer that have the address, in this order: Ultravox, Vapi, services of one's own. */
const ADDRESS_FIELDS = [ULTRAVOX_FIELD, 'transport.websocketCallUrl', 'url'];

interface JoinedBotOptions {
  /** `http:` or `https:`. */
  url: string;
  /** Headers of the request, such as an API key. The WebSocket does not get them. */
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; see `filledBody`. */
  body?: unknown;
  /** See `SocketBotOptions`. */
  control?: boolean;
}

/** Asks `url` for the WebSocket of each call, which carries plain audio: 16 kHz samples, 16 bit, mono. */
export const joinedBot =
  ({ url, headers = {}, body = {}, control = false }: JoinedBotOptions): ConnectBot =>
  async (call: BotCall, host, signal) => {
    const answer = await askBot({ url, headers, body: filledBody(body, call) }, signal);
    const { address, field } = addressIn(answer, url);
    const messages = field === ULTRAVOX_FIELD ? ULTRAVOX_MESSAGES : undefined;
    return connectSocketBot({ url: address, protocol: 'raw', control, messages }, host, signal);
  };

/** The address in the answer of `url`, and the field that has it. Throws `BotError`. */
export function addressIn(answer: string, url: string): { address: string; field: string } {
  const json = jsonOf(answer);
  for (const field of ADDRESS_FIELDS) {
    const address = field.split('.').reduce<unknown>((at, key) => Object(at)[key], json);
    if (typeof address !== 'string' || !/^wss?:\/\//.test(address) || !URL.canParse(address)) continue;
    // The far end's voice must not leave unencrypted because a service said so.
    if (url.startsWith('https:') && !address.startsWith('wss:'))
      throw new BotError(`the answer of ${url} has an address without TLS, at ${new URL(address).host}`);
    return { address, field };
  }
  throw new BotError(`the answer of ${url} has no WebSocket address in ${ADDRESS_FIELDS.join(', ')}`);
}
