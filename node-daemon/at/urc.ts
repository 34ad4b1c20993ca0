// Unsolicited result codes: joins the head and the PDU line of those that come in two lines. Pure.

/** An unsolicited result code, whole. */
export interface Urc {
  readonly line: string;
  /** The PDU of +CMT, +CDS and +CBM, hexadecimal. */
  readonly body?: string;
}

/** 3GPP TS 27.005 §3.4.1: in PDU mode these are followed by a line of their own. */
const HEAD_WITH_BODY = /^\+(CMT|CDS|CBM):/;
const HEXADECIMAL = /^[0-9A-Fa-f]+$/;

/** Passes lines through and keeps a head until its PDU line is there. */
export class UrcAssembler {
  #head: string | undefined;

  /** True when the line is the PDU of the head before it: it is no answer to a command. */
  takes(line: string): boolean {
    return this.#head !== undefined && HEXADECIMAL.test(line);
  }

  /** Takes a line that is a URC, or that `takes` said yes to; returns the URCs that are complete now. */
  push(line: string): Urc[] {
    const urcs: Urc[] = [];
    const head = this.#head;
    this.#head = undefined;
    if (head !== undefined) {
      if (HEXADECIMAL.test(line)) return [{ line: head, body: line }];
      urcs.push({ line: head });
    }
    if (HEAD_WITH_BODY.test(line)) this.#head = line;
    else urcs.push({ line });
    return urcs;
  }
}
