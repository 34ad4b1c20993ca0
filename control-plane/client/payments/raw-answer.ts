// An HTTP answer that may offer ways to pay.

/** An answer before its status was looked at. */
export interface RawAnswer {
  status: number;
  headers: Headers;
  json: unknown;
}
