// Reads origin-bound one-time codes: "@example.com #747723" on the last line of a text (WICG, "Origin-bound one-time codes delivered via SMS").

interface OriginBoundCode {
  code: string;
  /** Serialized origin of the top-level page, such as "https://example.com". */
  origin: string;
  /** Origin of the frame that takes the code; null if the text names none. */
  embeddedOrigin: string | null;
}

/** One token ends at ASCII white space, and one space separates them. The rest of the line is for future versions. */
const LAST_LINE = /^@([^\t\f\r\n ]+) #([^\t\f\r\n ]+)(?: [%@]([^\t\f\r\n ]+))?/;

/** `undefined` if the last line does not have the format, or its host is none. A line end at the end of the text makes the last line empty. */
export function originBoundCodeOf(text: string): OriginBoundCode | undefined {
  const line = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n').split('\n').at(-1) ?? '';
  const [, host, code, embeddedHost] = LAST_LINE.exec(line) ?? [];
  if (host === undefined || code === undefined) return undefined;
  const origin = originOf(host);
  if (origin === undefined) return undefined;
  return { code, origin, embeddedOrigin: (embeddedHost && originOf(embeddedHost)) ?? null };
}

/** A host and nothing else: "bank.example@evil.example" would show one name and mean another. */
function originOf(host: string): string | undefined {
  if (host.length > 253 || /[/?#@:\\%[\]]/.test(host) || !URL.canParse(`https://${host}`)) return undefined;
  return new URL(`https://${host}`).origin;
}
