// Close codes of the WebSockets of calls (RFC 6455 §7.4). Codes of 4000 and above are our own.

/** Close codes of `/voice/stream/{call_id}`. Beside these, 4000 plus the cause of ITU-T Q.850 says that the call has ended. */
export const STREAM_CLOSE = {
  /** The call has ended normally. The reason is `16 normal_clearing`. In the Twilio and Vonage dialects, any end of the call. */
  normal: 1000,
  /** The service restarts. The call continues: open the stream again within 5 seconds. */
  goingAway: 1001,
  /** A binary frame was not audio of the right format, or a text frame was not JSON. The reason says which. Open the stream again. */
  invalidData: 1007,
  /** The client sent too many messages: more than 3,000 at once, or more than 1,000 a second. Send them more slowly. */
  tooManyMessages: 1008,
  /** A message was too long. The limit is 2 MiB of audio, 1,280 KiB in the Twilio dialect, and 64 KiB of text. Send smaller messages. */
  tooBig: 1009,
  /** The service could not look up the call. Open the stream again. */
  internalError: 1011,
  /** The instance no longer has the call. The call continues: open the stream again. */
  restart: 1012,
  /** The token was revoked, or its year is over. Sign in and open the stream again within 5 seconds. */
  tokenEnded: 4401,
  /** The call does not exist, belongs to another subscription, or has ended. */
  noCall: 4404,
  /** A newer stream of the same call took over. Do not open the stream again. */
  replaced: 4409,
} as const;

/** Close codes of `/voice/presence/{number}`. */
export const PRESENCE_CLOSE = {
  /** The service restarts. Connect again; it reports the calls that still ring. */
  goingAway: 1001,
  /** The client sent more than 100 messages, pings and pongs at once, or more than 10 a second. Watchers of presence send nothing. */
  tooManyMessages: 1008,
  /** The client sent a message of more than 1 KiB. Watchers of presence send nothing. */
  tooBig: 1009,
  /** The token was revoked, or its year is over. Sign in and connect again. */
  tokenEnded: 4401,
} as const;

/** Close codes of the media link that a node opens for the audio of one call. */
export const MEDIA_CLOSE = {
  /** The call has ended. */
  normal: 1000,
  /** The instance restarts, or no longer has the call. The node hangs up unless a new `open_media` comes in time. */
  goingAway: 1001,
  /** The node received a message that is not a frame of the media link. */
  invalidData: 1007,
  /** A message was longer than 4 KiB. */
  tooBig: 1009,
  /** The control plane received a message that is not a frame of the media link. */
  protocolError: 4400,
  /** A newer media link of the same call took over. */
  replaced: 4409,
} as const;
