// The message of whatever was thrown.

/** Returns the error's message; anything else that was thrown, as text. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
