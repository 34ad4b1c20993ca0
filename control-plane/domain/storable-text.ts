// Text that Postgres can store.

/** UCS-2, and what a modem calls itself, can carry U+0000 and halves of a surrogate pair; text and JSON in Postgres cannot. */
export const storableText = (text: string): string =>
  text.replaceAll('\u0000', '\ufffd').replace(/\p{Cs}/gu, '\ufffd');
