// The one error of the PDU codec.

/** The bytes are no TPDU that can be read, or the text is none that can be sent. */
export class TpduError extends Error {
  override name = 'TpduError';
}
