// The bridge's view of a bot, however it is connected.
import type { StreamProtocol } from '#shared/api/voice-frames.ts';

/** A call that a bot is to take. */
export interface BotCall {
  callId: string;
  /** How a bot for Twilio knows the call, if not as `callId`. */
  callSid?: string;
  accountId: string;
  direction: 'inbound' | 'outbound';
  /** E.164, or as received; null if it is withheld. */
  from: string | null;
  to: string | null;
}

/** How a bot for Twilio knows a call and its account. */
export interface TwilioNames {
  accountSid: string;
  callSid: string;
}

/** Undefined: as the service names them. */
export const twilioNamesOf = ({ accountId, callSid }: BotCall): TwilioNames | undefined =>
  callSid === undefined ? undefined : { accountSid: accountId, callSid };

/** The service's side of a call, for its bot. */
export interface BotHost {
  /** Sends a message to the stream of the call. */
  send(data: Buffer | string): void;
  /** The bot has nothing more to say: the far end hears all that was sent, then the call ends. `words`: what happened. */
  done(words: string): void;
  /** The bot is lost: the call ends at once. */
  failed(words: string): void;
  /** Reports something that people should know, once with the same words; the call goes on. */
  note(words: string): void;
}

export interface Bot {
  /** The protocol in which the stream of the call is opened. */
  readonly protocol: StreamProtocol;
  /** A message of the stream. */
  receive(data: Buffer, isBinary: boolean): void;
  /** The stream was opened again: its numbers begin again. */
  reopened(): void;
  /** The stream takes no messages for now, or takes them again. */
  pause(): void;
  resume(): void;
  /** The call has ended. */
  end(reason: string): void;
}

/** Connects the bot of a call. Throws `BotError`, and the reason of `signal`. */
export type ConnectBot = (call: BotCall, host: BotHost, signal: AbortSignal) => Promise<Bot>;

/** The bot does not take the call. The message says why, for people. */
export class BotError extends Error {
  override name = 'BotError';
}
