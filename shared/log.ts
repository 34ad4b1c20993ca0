// The logger that parts of a program use: a static message and fields. Message bodies, tokens and keys are never fields.

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** `auto`: text where a person reads, on a terminal and in a journal, else JSON. */
export const LOG_FORMATS = ['auto', 'text', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

type Write = (fields: object, message: string) => void;

export interface Logger {
  debug: Write;
  info: Write;
  warn: Write;
  error: Write;
  /** A logger that adds `bindings` to every line. */
  child(bindings: Record<string, unknown>): Logger;
}

const ignore: Write = () => undefined;

/** Drops every line. */
export const silentLogger: Logger = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  child: () => silentLogger,
};
