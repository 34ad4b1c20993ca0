// An HTTP answer that may offer ways to pay.

/** An answer before its status was checked. */
export interface RawAnswer {
  status: number;
  headers: Headers;
  json: unknown;
}
