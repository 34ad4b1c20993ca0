// Cuts bytes from the modem into lines and prompts. The result does not depend on how the bytes arrive.

/** The longest lines, of +CUSD or +CMGL, are below 1 KiB. A longer one is noise (a wrong baud rate). */
export const LINE_LENGTH_MAX = 2048;

/** The parts of a modem's output. */
export type Frame =
  | { readonly kind: 'line'; readonly text: string }
  /** "> " at the start of a line: the modem waits for a body (3GPP TS 27.005 §4.3). */
  | { readonly kind: 'prompt' }
  /** A line beyond `LINE_LENGTH_MAX`; its text is dropped. */
  | { readonly kind: 'overlong' };

const NUL = 0x00;
const LF = 0x0a;
const CR = 0x0d;

/**
 * Cuts a byte stream into frames. CR and LF both end a line and empty lines are dropped, so that
 * echo ("AT\r"), "\r\n", "\r\r\n" and extra blank lines need no rules of their own. Blanks around a
 * line are dropped. NUL bytes, which UARTs produce when a modem powers up, are dropped everywhere.
 */
export class Framer {
  #line = '';
  #overlong = false;

  /** Adds bytes. Returns the frames that they complete. */
  push(bytes: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    for (const byte of bytes) {
      if (byte === NUL) continue;
      if (byte === CR || byte === LF) this.#endLine(frames);
      else this.#extend(byte, frames);
    }
    return frames;
  }

  #extend(byte: number, frames: Frame[]): void {
    if (this.#overlong) return;
    this.#line += String.fromCharCode(byte);
    if (this.#line === '> ') {
      frames.push({ kind: 'prompt' });
      this.#line = '';
    } else if (this.#line.length > LINE_LENGTH_MAX) {
      this.#overlong = true;
      this.#line = '';
    }
  }

  #endLine(frames: Frame[]): void {
    const text = this.#line.trim();
    if (this.#overlong) frames.push({ kind: 'overlong' });
    else if (text !== '') frames.push({ kind: 'line', text });
    this.#overlong = false;
    this.#line = '';
  }
}
