// The path to continue at after signing in, from an address that came with a request.

/** A path of ours as it is, `/` for anything else: "//host" and "/\host" are elsewhere to a browser. */
export const ownPath = (text: string): string => (/^\/(?![/\\])[\x21-\x7e]*$/.test(text) ? text : '/');
