// Base64 of text in UTF-8, with what every JavaScript engine has.

export function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

/** RFC 4648 §5, without padding. */
export const base64Url = (text: string): string =>
  base64(text).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');

/** Reads both alphabets. An empty text for what is not base64. */
export function textOfBase64(encoded: string): string {
  try {
    const binary = atob(encoded.replace(/-/g, '+').replace(/_/g, '/'));
    return new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)));
  } catch {
    return '';
  }
}
