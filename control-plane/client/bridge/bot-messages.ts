// A voice service's own text messages on a socket with plain audio.
import type { ClientFrame } from '#shared/api/voice-frames.ts';

export interface BotMessages {
  /** The bot's message for a key that the far end pressed. */
  key(digit: string): object;
  /** The request to the service that a message of the bot stands for, and the reply to the bot; undefined for other messages. */
  answer(message: unknown): { request?: ClientFrame; reply: object } | undefined;
}
