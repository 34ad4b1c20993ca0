// Joins the two lines of those unsolicited result codes that have a PDU line. Pure.

/** A complete unsolicited result code. */
export interface Urc {
  readonly line: string;
  /** The PDU of +CMT, +CDS and +CBM, hexadecimal. */
  readonly body?: string;
}

/** 3GPP TS 27.005 §3.4.1: in PDU mode these end in the length of the TPDU, and the PDU follows on the next line. */
const HEAD_WITH_BODY = /^\+(?:CMT|CDS|CBM|CLASS0):(?:.*,)? ?(\d{1,3})$/;
const HEXADECIMAL = /^[0-9A-Fa-f]+$/;
/** The service center's address comes before the TPDU: its length and up to 11 octets. */
const ADDRESS_OCTETS_MAX = 12;

interface Head {
  readonly line: string;
  /** Octets of the TPDU. */
  readonly length: number;
}

/** Passes lines through, and keeps a first line until its PDU line comes. */
export class UrcAssembler {
  #head: Head | undefined;

  /**
   * Gets each line first. Returns the URC that the line completes, or that is complete without it, and whether the line was its PDU.
   * `isAwaited`: the command in flight also waits for such a line. Then a PDU belongs to the first line only if its length matches.
   */
  next(line: string, isAwaited: boolean): { readonly urc?: Urc; readonly taken: boolean } {
    const head = this.#head;
    if (head === undefined) return { taken: false };
    this.#head = undefined;
    if (HEXADECIMAL.test(line) && (!isAwaited || fits(head, line))) {
      return { urc: { line: head.line, body: line }, taken: true };
    }
    return { urc: { line: head.line }, taken: false };
  }

  /** Takes a line of a URC. Returns the URC, unless the line is a first line whose PDU follows. */
  urc(line: string): Urc | undefined {
    const length = HEAD_WITH_BODY.exec(line)?.[1];
    if (length === undefined) return { line };
    this.#head = { line, length: Number(length) };
    return undefined;
  }
}

function fits({ length }: Head, line: string): boolean {
  const octets = line.length / 2;
  return Number.isInteger(octets) && octets >= length && octets <= length + ADDRESS_OCTETS_MAX;
}
