// A bot that is a WebSocket server: Twilio Media Streams, Vonage, or plain audio.
import WebSocket from 'ws';
import * as z from 'zod';
import { clientFrameSchema, type StreamProtocol, serverFrameSchema } from '#shared/api/voice-frames.ts';
import { systemClock } from '#shared/clock.ts';
import { jsonOf } from '#shared/json.ts';
import { type Bot, BotError, type BotHost, type ConnectBot, type TwilioNames, twilioNamesOf } from './bot.ts';
import type { BotMessages } from './bot-messages.ts';
import { speaksNoTls } from './bot-request.ts';
import { IgnoredBotMessages } from './ignored-messages.ts';
import { TwilioRelay } from './twilio-relay.ts';
import { STALLED_MS, Unread } from './unread.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const CLOSE_TIMEOUT_MS = 2_000;

/** Half a minute of Twilio's messages: a bot that is slower misses audio. */
const UNREAD_BYTES_MAX = 512 * 1024;

/** RFC 6455 §5.5. */
const CLOSE_REASON_BYTES_MAX = 123;

/** The service refuses longer ones. */
const MESSAGE_BYTES_MAX = 3 * 1024 * 1024;

/** A close after a conversation (RFC 6455 §7.4.1); 1001: a server that stops on purpose. */
const CLEAN_CLOSES: ReadonlySet<number> = new Set([1000, 1001, 1005]);

interface SocketBotOptions {
  /** `ws:` or `wss:`. */
  url: string;
  protocol: StreamProtocol;
  /** Twilio's custom parameters. */
  parameters?: Readonly<Record<string, string>>;
  /** Twilio's names of the call; by default those of the service. */
  names?: TwilioNames | undefined;
  /** Headers of the upgrade request. */
  headers?: Readonly<Record<string, string>>;
  /** Only with `raw`: the bot also gets the text frames of the service (`answered`, `dtmf`, `mark`, `cleared`). */
  control?: boolean;
  /** Only with `raw`: the bot's own messages. With `control` it gets keys as the service sends them. */
  messages?: BotMessages | undefined;
}

/** Connects each call to a server. */
export const socketBot =
  (options: SocketBotOptions): ConnectBot =>
  (call, host, signal) =>
    connectSocketBot({ names: twilioNamesOf(call), ...options }, host, signal);

/** Throws `BotError`. */
export async function connectSocketBot(
  options: SocketBotOptions,
  host: BotHost,
  signal: AbortSignal,
): Promise<Bot> {
  signal.throwIfAborted();
  const socket = new WebSocket(options.url, {
    headers: options.headers ?? {},
    handshakeTimeout: CONNECT_TIMEOUT_MS,
    maxPayload: MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
  });
  const bot = new SocketBot(socket, options, host);
  const abort = (): void => socket.terminate();
  signal.addEventListener('abort', abort, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', (error) =>
        reject(new BotError(`no connection to ${options.url}: ${connectProblem(error)}`)),
      );
    });
    return bot;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

const connectProblem = (error: Error): string =>
  speaksNoTls(error) ? 'the bot’s server does not speak TLS: use ws://' : error.message;

class SocketBot implements Bot {
  readonly protocol: StreamProtocol;
  readonly #socket: WebSocket;
  readonly #host: BotHost;
  readonly #relay: TwilioRelay | undefined;
  readonly #getsControl: boolean;
  readonly #messages: BotMessages | undefined;
  #isPaused = true;
  #isConnected = false;
  readonly #unread = new Unread();
  readonly #ignored: IgnoredBotMessages;
  /** Came before the stream was open. */
  #early: Array<Buffer | string> = [];

  constructor(socket: WebSocket, options: SocketBotOptions, host: BotHost) {
    const { url, protocol, parameters, names, control = false, messages } = options;
    this.#socket = socket;
    this.#host = host;
    this.protocol = protocol;
    this.#ignored = new IgnoredBotMessages(protocol);
    this.#getsControl = control || protocol === 'vonage';
    this.#messages = messages;
    this.#relay = protocol === 'twilio' ? new TwilioRelay(parameters, names) : undefined;
    socket.binaryType = 'nodebuffer';
    let problem = '';
    socket.on('error', (error) => {
      problem = `: ${error.message}`;
    });
    socket.on('open', () => {
      this.#isConnected = true;
      socket.pause();
    });
    socket.on('message', (data: Buffer, isBinary) => this.#onMessage(isBinary ? data : data.toString()));
    socket.on('close', (code, reason) => {
      if (!this.#isConnected) return;
      const why = [String(code), reason.toString()].filter(Boolean).join(' ');
      if (CLEAN_CLOSES.has(code)) host.done(`the bot closed the connection (${why})`);
      else host.failed(`the bot at ${url} is gone (${why}${problem})`);
    });
  }

  receive(data: Buffer, isBinary: boolean): void {
    const { readyState, bufferedAmount, OPEN } = this.#socket;
    if (readyState !== OPEN) return;
    const isAudio = isBinary || this.protocol === 'twilio';
    if (isAudio && bufferedAmount > UNREAD_BYTES_MAX) {
      this.#host.note('the bot reads too slowly: audio is dropped');
      if (this.#unread.isStalled(bufferedAmount, systemClock.now())) this.#giveUp();
      return;
    }
    if (isAudio) this.#unread.reads();
    if (isBinary) this.#socket.send(data, { binary: true });
    else if (this.#relay !== undefined) {
      const text = this.#relay.toBot(data.toString());
      if (text !== undefined) this.#socket.send(text);
    } else if (this.#getsControl) this.#socket.send(data, { binary: false });
    else if (this.#messages !== undefined) this.#sendKey(data, this.#messages);
  }

  #sendKey(data: Buffer, messages: BotMessages): void {
    const frame = serverFrameSchema.safeParse(jsonOf(data.toString())).data;
    if (frame?.type === 'dtmf') this.#socket.send(JSON.stringify(messages.key(frame.digit)));
  }

  reopened(): void {
    this.#relay?.reopened();
  }

  pause(): void {
    this.#isPaused = true;
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    for (const data of this.#early.splice(0)) this.#host.send(data);
    this.#socket.resume();
  }

  end(reason: string): void {
    const timer = setTimeout(() => this.#socket.terminate(), CLOSE_TIMEOUT_MS);
    this.#socket.once('close', () => clearTimeout(timer));
    this.#socket.resume();
    this.#socket.close(1000, cutTo(reason, CLOSE_REASON_BYTES_MAX));
  }

  #onMessage(given: Buffer | string): void {
    const data = typeof given === 'string' && this.protocol === 'raw' ? this.#requestOf(given) : given;
    const problem =
      data === undefined
        ? this.#ignored.report('it is not one of the control messages', String(given))
        : this.#ignored.check(data);
    if (problem !== undefined) this.#host.note(problem);
    if (data === undefined) return;
    if (this.#isPaused) this.#early.push(data);
    else this.#host.send(data);
  }

  /** Undefined for a message that is none of the service: plain bots send text of their own, such as transcripts, which would end the stream. */
  #requestOf(text: string): string | undefined {
    const json = jsonOf(text);
    if (clearingSchema.safeParse(json).success) return CLEAR;
    if (clientFrameSchema.safeParse(json).success) return text;
    const answer = this.#messages?.answer(json);
    if (answer === undefined) return undefined;
    this.#socket.send(JSON.stringify(answer.reply));
    return answer.request === undefined ? undefined : JSON.stringify(answer.request);
  }

  #giveUp(): void {
    this.#host.failed(`the bot has read nothing for ${STALLED_MS / 1_000} s`);
    this.#socket.terminate();
  }
}

/** As much of the text as fits, in whole characters. */
export function cutTo(text: string, bytesMax: number): string {
  const cut = new Uint8Array(bytesMax);
  const { read } = new TextEncoder().encodeInto(text, cut);
  return text.slice(0, read);
}

/** Ultravox, when the far end interrupts it: https://docs.ultravox.ai/apps/datamessages#playbackclearbuffer. */
const clearingSchema = z.object({ type: z.literal('playback_clear_buffer') });
const CLEAR = JSON.stringify({ type: 'clear' });
