// Every "no" of the public API: its stable code, its HTTP status, and what it tells a client.

export const REFUSALS = {
  invalid_request: { status: 400, meaning: 'A field is missing or wrong; `field` names it.' },
  invalid_json: { status: 400, meaning: 'The body is not JSON in UTF-8.' },
  invalid_email: { status: 400, meaning: 'The e-mail address is missing or malformed.' },
  destination_not_allowed: { status: 400, meaning: 'This number may not be texted or called from here.' },
  unauthorized: { status: 401, meaning: 'The bearer token is missing, unknown, revoked or expired.' },
  signature_mismatch: {
    status: 401,
    meaning: 'The nonce is unknown, used or expired, or the wallet has not signed it.',
  },
  no_active_subscription: { status: 402, meaning: 'The wallet has no active subscription.' },
  forbidden: { status: 403, meaning: 'The number belongs to another subscription.' },
  origin_not_allowed: { status: 403, meaning: 'Pages of this origin may not call the tools.' },
  enrolment_refused: { status: 403, meaning: 'The enrolment code is unknown, used or expired.' },
  node_revoked: { status: 403, meaning: 'The node may not connect any more.' },
  not_found: { status: 404, meaning: 'There is nothing at this path.' },
  phone_number_not_found: { status: 404, meaning: 'There is no such number here.' },
  message_not_found: { status: 404, meaning: 'There is no such message of your number, or not any more.' },
  call_not_found: { status: 404, meaning: 'The call is unknown, or has ended.' },
  method_not_allowed: { status: 405, meaning: 'The path is there, for the methods of `Allow`.' },
  request_timeout: { status: 408, meaning: 'The request did not come to its end in time.' },
  payment_already_used: {
    status: 409,
    meaning: 'This authorization was used, or shown to others, before. Sign in with POST /auth for a token.',
  },
  paid_ahead: {
    status: 409,
    meaning: 'The subscription is paid as far ahead as it may be, until `expires_at`. Nothing was charged.',
  },
  subscription_not_bound: { status: 409, meaning: 'The SIM of the number is not in a modem right now.' },
  line_busy: { status: 409, meaning: 'The number has a call already.' },
  approval_pending: { status: 409, meaning: 'The operator has not approved the key of this node yet.' },
  payload_too_large: { status: 413, meaning: 'The body is larger than 64 KiB.' },
  unsupported_media_type: { status: 415, meaning: 'The body is not application/json, or is compressed.' },
  upgrade_required: { status: 426, meaning: 'This path is a WebSocket.' },
  rate_limited: { status: 429, meaning: 'Too many requests; wait for `Retry-After` seconds.' },
  headers_too_large: { status: 431, meaning: 'The headers have more than 16 KiB, or are too many.' },
  internal_error: {
    status: 500,
    meaning: 'Something is wrong on our side; `request_id` names it in our log.',
  },
  phone_node_error: {
    status: 502,
    meaning:
      'The modem did not confirm it. Check `GET /sms/messages` (`failed` or `unknown`) before you send again.',
  },
  phone_node_unreachable: {
    status: 502,
    meaning: 'The call did not come to ring; `reason` says whether it was busy, refused or not connected.',
  },
  restarting: { status: 503, meaning: 'The service restarts; come again at once.' },
  unavailable: {
    status: 503,
    meaning: 'The service cannot answer now. It may have done what you asked: check before you repeat it.',
  },
  overloaded: { status: 503, meaning: 'Too much to do right now; come again shortly.' },
  pool_exhausted: { status: 503, meaning: 'No number is free. Nothing was charged.' },
  settlement_pending: {
    status: 503,
    meaning:
      'A payment of this wallet is on its way. Do not pay again: sign in with POST /auth after `Retry-After` seconds.',
  },
  settlement_unavailable: {
    status: 503,
    meaning: 'Payments cannot be taken right now. Nothing was charged.',
  },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type RefusalCode = keyof typeof REFUSALS;
