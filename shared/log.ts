// The logger that parts of a program use: a static message and fields. Message bodies, tokens and keys are never fields.

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
