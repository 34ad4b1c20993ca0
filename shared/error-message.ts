// The message of what was thrown, and a message as a part of another one.

/** Returns the error's message; anything else that was thrown, as text. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The message with a full stop, for the end of another message. */
export const asSentence = (message: string): string => message.replace(/\.?$/, '.');
