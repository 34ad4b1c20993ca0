// Text that Postgres can store.

/** UCS-2 texts and modem names may contain U+0000 and unpaired surrogates, which text and JSON in Postgres cannot store. */
export const storableText = (text: string): string =>
  text.replaceAll('\u0000', '\ufffd').replace(/\p{Cs}/gu, '\ufffd');
