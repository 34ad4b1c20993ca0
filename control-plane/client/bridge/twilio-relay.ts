// A Twilio stream on its way to a bot: passed on as it is, until it is opened again. From then on its numbers continue. Pure.
import * as z from 'zod';
import { jsonOf } from '#shared/json.ts';
import type { TwilioNames } from './bot.ts';

const numberField = z.string().regex(/^\d{1,15}$/);
const mediaField = z.looseObject({ chunk: numberField, timestamp: numberField });
const messageSchema = z.looseObject({
  event: z.string(),
  sequenceNumber: numberField.optional(),
  media: mediaField.optional(),
});
type Message = z.infer<typeof messageSchema>;

/** A 20 ms step between two messages of audio. */
const STEP_MS = 20;

/** How far the numbers of an earlier stream went. */
interface Progress {
  sequence: number;
  chunk: number;
  timestamp: number;
}

export class TwilioRelay {
  readonly #parameters: Readonly<Record<string, string>>;
  readonly #names: TwilioNames | undefined;
  #offset: Progress | undefined;
  #isStarted = false;
  #last = '';
  #lastMedia = '';

  /** `parameters` are added to the custom parameters of `start`; `names` replace those of the service. */
  constructor(parameters: Readonly<Record<string, string>> = {}, names?: TwilioNames) {
    this.#parameters = parameters;
    this.#names = names;
  }

  /** The stream was opened again. */
  reopened(): void {
    if (!this.#isStarted) return;
    const last = parse(this.#last);
    const media = parse(this.#lastMedia)?.media;
    this.#offset = {
      sequence: Number(last?.sequenceNumber ?? 0),
      chunk: Number(media?.chunk ?? 0),
      timestamp: media === undefined ? 0 : Number(media.timestamp) + STEP_MS,
    };
  }

  /** The message for the bot; undefined for one that it has had already. */
  toBot(text: string): string | undefined {
    const isPlain = this.#isStarted && this.#offset === undefined && !text.startsWith('{"event":"stop"');
    const given = isPlain ? text : this.#changed(text);
    if (given === undefined) return undefined;
    this.#last = given;
    if (given.startsWith('{"event":"media"')) this.#lastMedia = given;
    return given;
  }

  #changed(text: string): string | undefined {
    const message = parse(text);
    if (message === undefined) return text;
    if (message.event === 'connected') return this.#offset === undefined ? text : undefined;
    if (message.event === 'start') {
      if (this.#isStarted) return undefined;
      this.#isStarted = true;
      return this.#withParameters(message);
    }
    if (message.event === 'stop' && this.#names !== undefined) {
      const stop = { ...z.looseObject({}).parse(message['stop']), ...this.#names };
      return JSON.stringify(
        this.#offset === undefined ? { ...message, stop } : renumbered({ ...message, stop }, this.#offset),
      );
    }
    return this.#offset === undefined ? text : JSON.stringify(renumbered(message, this.#offset));
  }

  #withParameters(message: Message): string {
    const start = z
      .looseObject({ customParameters: z.record(z.string(), z.string()) })
      .parse(message['start']);
    const customParameters = { ...start.customParameters, ...this.#parameters };
    return JSON.stringify({ ...message, start: { ...start, ...this.#names, customParameters } });
  }
}

function renumbered(message: Message, offset: Progress): Message {
  const { sequenceNumber, media } = message;
  return {
    ...message,
    ...(sequenceNumber === undefined
      ? {}
      : { sequenceNumber: String(Number(sequenceNumber) + offset.sequence) }),
    ...(media === undefined
      ? {}
      : {
          media: {
            ...media,
            chunk: String(Number(media.chunk) + offset.chunk),
            timestamp: String(Number(media.timestamp) + offset.timestamp),
          },
        }),
  };
}

const parse = (text: string): Message | undefined => messageSchema.safeParse(jsonOf(text)).data;
