// The error of the PDU codec.

/** The bytes cannot be decoded as a TPDU, or the text cannot be encoded. */
export class TpduError extends Error {
  override name = 'TpduError';
}
