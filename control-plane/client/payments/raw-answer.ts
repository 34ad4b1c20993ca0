// An HTTP response that may offer payment options.

/** A response before its status is checked. */
export interface RawAnswer {
  status: number;
  headers: Headers;
  json: unknown;
}
