// Messages of a bot that the service ignores without an answer. The bridge reports the first of each call to the author of the bot. Pure.
import type * as z from 'zod';
import { twilioClientFrameSchema } from '#shared/api/twilio-frames.ts';
import type { StreamProtocol } from '#shared/api/voice-frames.ts';
import { vonageClientFrameSchema } from '#shared/api/vonage-frames.ts';
import { jsonOf } from '#shared/json.ts';

const SHOWN_CHARACTERS = 100;

/** Audio comes 50 times a second and always has the same form: only its first messages are checked. */
const AUDIO_CHECKED = 3;
const AUDIO = /"event"\s*:\s*"media"/;
const AUDIO_CHARACTERS = 120;

export class IgnoredBotMessages {
  readonly #protocol: StreamProtocol;
  #audio = 0;
  #isReported = false;

  constructor(protocol: StreamProtocol) {
    this.#protocol = protocol;
  }

  /** Words for people about a message that the service will ignore: of the first one only. */
  check(data: Buffer | string): string | undefined {
    if (this.#isReported || this.#protocol === 'raw') return undefined;
    if (this.#protocol === 'vonage')
      return typeof data === 'string' ? this.#checkText(data, vonageClientFrameSchema) : undefined;
    if (typeof data !== 'string') return this.report('it is binary');
    if (AUDIO.test(data.slice(0, AUDIO_CHARACTERS))) {
      this.#audio += 1;
      if (this.#audio > AUDIO_CHECKED) return undefined;
    }
    return this.#checkText(data, twilioClientFrameSchema);
  }

  /** Words about the message; undefined if one was reported before. */
  report(why: string, text?: string): string | undefined {
    if (this.#isReported) return undefined;
    this.#isReported = true;
    const shown = text === undefined ? '' : `: ${text.slice(0, SHOWN_CHARACTERS)}`;
    return `a message of the bot was ignored, because ${why}${shown}`;
  }

  #checkText(text: string, schema: z.ZodType): string | undefined {
    const json = jsonOf(text);
    if (json === undefined) return this.report('it is not JSON', text);
    const issue = schema.safeParse(json).error?.issues[0];
    if (issue === undefined) return undefined;
    const field = issue.path.join('.');
    const isUnknown = field === '' || field === 'event' || field === 'action';
    return this.report(
      isUnknown ? 'it is not one of the control messages' : `"${field}" is missing or wrong`,
      text,
    );
  }
}
