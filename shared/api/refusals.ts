// Every refusal of the public API: its stable code, its HTTP status, its meaning and its remedy.

interface RefusalKind {
  status: number;
  meaning: string;
  action: string;
}

export const REFUSALS = {
  invalid_request: {
    status: 400,
    meaning: 'A field is missing or wrong; `field` names it.',
    action: 'Correct the field and send the request again.',
  },
  invalid_json: {
    status: 400,
    meaning: 'The body is not JSON in UTF-8.',
    action: 'Send a JSON body in UTF-8.',
  },
  invalid_email: {
    status: 400,
    meaning: 'The e-mail address is missing or malformed.',
    action: 'Send one plain address, such as name@example.org.',
  },
  destination_not_allowed: {
    status: 400,
    meaning: 'This number may not be texted or called from here.',
    action:
      'Use another destination. An operator allows more with `DESTINATIONS`, on the service and on the host of the SIM.',
  },
  webhook_url_not_allowed: {
    status: 400,
    meaning: 'Webhooks cannot be sent to this URL.',
    action: 'Use an https URL with a public address, without user name, password and fragment.',
  },
  unauthorized: {
    status: 401,
    meaning: 'The bearer token is missing, unknown, revoked or expired.',
    action: 'Send the token of `POST /subscribe`, or sign in with `POST /auth` for a new one.',
  },
  signature_mismatch: {
    status: 401,
    meaning: 'The nonce is unknown, used or expired, or the wallet did not sign it.',
    action: 'Get a new nonce, sign its `message` as it is, and try again.',
  },
  no_active_subscription: {
    status: 402,
    meaning: 'The wallet has no active subscription.',
    action: 'Buy a number with `POST /subscribe`.',
  },
  forbidden: {
    status: 403,
    meaning: 'The number belongs to another subscription.',
    action: 'Use the number of `GET /number`.',
  },
  recipient_opted_out: {
    status: 403,
    meaning: 'The recipient answered your number with STOP or a word like it. The text was not sent.',
    action: 'Do not text this recipient until it sends START to your number.',
  },
  origin_not_allowed: {
    status: 403,
    meaning: 'Web pages of this origin may not call the tools.',
    action: 'Call `/mcp` from a program, or from a page of the service.',
  },
  enrolment_refused: {
    status: 403,
    meaning: 'The enrollment code is unknown, used or expired.',
    action: 'Create a new code with `control-plane node add`.',
  },
  node_revoked: {
    status: 403,
    meaning: 'An operator revoked this node.',
    action: 'Enroll the node again with a new code.',
  },
  not_found: {
    status: 404,
    meaning: 'Nothing exists at this path.',
    action: 'Compare the path with `/openapi.json`.',
  },
  phone_number_not_found: {
    status: 404,
    meaning: 'The service has no such number.',
    action: 'Use the number of `GET /number`.',
  },
  message_not_found: {
    status: 404,
    meaning: 'Your number has no such message, or the message was deleted.',
    action: 'After a lost answer to a deletion, treat this as success.',
  },
  webhook_not_found: {
    status: 404,
    meaning: 'Your number has no such webhook, or the webhook was deleted.',
    action: 'Check `GET /webhooks`.',
  },
  webhook_delivery_not_found: {
    status: 404,
    meaning: 'The webhook has no such delivery, or its text was deleted.',
    action: 'Check `GET /webhooks/{id}/deliveries`.',
  },
  call_not_found: {
    status: 404,
    meaning: 'The call is unknown or has ended.',
    action: 'Check `GET /voice/calls`: it shows how the call ended.',
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The path exists, but only for the methods in `Allow`.',
    action: 'Use one of these methods.',
  },
  request_timeout: {
    status: 408,
    meaning: 'The request did not arrive completely in time.',
    action: 'Send it again.',
  },
  payment_already_used: {
    status: 409,
    meaning:
      'The service had this payment before: it was applied, or an operator refunded or closed it. Or a third party may have it.',
    action:
      'Do not pay again. Sign in with `POST /auth` for a token. If an operator refunded or closed the payment, the message says that, and there is no subscription.',
  },
  payment_identifier_reused: {
    status: 409,
    meaning: 'The wallet gave this `payment-identifier` to another payment. Nothing was charged.',
    action: 'Present the other payment again, or give this one an identifier of its own.',
  },
  paid_ahead: {
    status: 409,
    meaning: 'The subscription is paid as far ahead as allowed, until `expires_at`. Nothing was charged.',
    action: 'Renew later.',
  },
  subscription_not_bound: {
    status: 409,
    meaning:
      'The SIM of the number is not in a modem right now; `message` says whether the number is being provisioned or has no service.',
    action: 'Try again in a minute. If the number still has no service, ask its operator.',
  },
  webhook_limit_reached: {
    status: 409,
    meaning: 'The number has as many webhooks as allowed.',
    action: 'Delete one, or change it with `PATCH /webhooks/{id}`.',
  },
  line_busy: {
    status: 409,
    meaning: 'The number already has a call. `call_id` names it, if the service knows it.',
    action:
      'End that call, or wait until it ends. `GET /voice/calls` lists it. An answered call without a stream ends after 30 seconds (`UNCLAIMED_CALL_MS`). With `Retry-After`, the call is ending: try again after that time.',
  },
  stream_open: {
    status: 409,
    meaning: 'A client has the stream of the call, so tools cannot speak or listen on it.',
    action: 'Use the stream.',
  },
  speech_in_progress: {
    status: 409,
    meaning: 'Another tool speaks or listens on the call.',
    action: 'Wait for its answer.',
  },
  approval_pending: {
    status: 409,
    meaning: 'The operator has not approved the key of this node yet.',
    action: 'Run `control-plane node approve`. The node asks again by itself.',
  },
  payload_too_large: {
    status: 413,
    meaning: 'The body is larger than 64 KiB.',
    action: 'Send a smaller body.',
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'The body is not `application/json`, or is compressed.',
    action: 'Send uncompressed JSON with this type.',
  },
  upgrade_required: {
    status: 426,
    meaning: 'This path is a WebSocket.',
    action: 'Open it with a WebSocket client.',
  },
  rate_limited: {
    status: 429,
    meaning: 'Too many requests, or texts. Nothing was done.',
    action: 'Wait for `Retry-After` seconds.',
  },
  headers_too_large: {
    status: 431,
    meaning: 'The headers are longer than 16 KiB, or there are too many.',
    action: 'Send fewer or shorter headers.',
  },
  internal_error: {
    status: 500,
    meaning: 'The service failed. Its log has the details under `request_id`.',
    action: 'Report the `request_id` to the operator.',
  },
  phone_node_error: {
    status: 502,
    meaning: 'The modem did not confirm the request.',
    action: 'Check `GET /sms/messages` (`failed` or `unknown`) before you send again.',
  },
  speech_failed: {
    status: 502,
    meaning: 'The service could not make speech of the text. Nothing was said.',
    action: 'Try again, or with another text. If it goes on, report it to the operator.',
  },
  phone_node_unreachable: {
    status: 502,
    meaning: 'The call did not ring; `reason` says why, for instance `busy` or `rejected`.',
    action: 'Try again if the reason allows it.',
  },
  restarting: {
    status: 503,
    meaning: 'The service is restarting.',
    action: 'Try again at once.',
  },
  unavailable: {
    status: 503,
    meaning: 'The service cannot answer now. It may have done what you asked.',
    action:
      'Wait for `Retry-After` seconds, and check before you repeat a change. Send the same payment again, not another one.',
  },
  overloaded: {
    status: 503,
    meaning: 'The service is overloaded. Nothing was done.',
    action: 'Wait for `Retry-After` seconds.',
  },
  pool_exhausted: {
    status: 503,
    meaning: 'No number is available. Nothing was charged.',
    action: 'Try later, or join the waitlist with `POST /waitlist`.',
  },
  settlement_pending: {
    status: 503,
    meaning: 'A payment of this wallet is in progress.',
    action: 'Do not pay again. Sign in with `POST /auth` after `Retry-After` seconds.',
  },
  settlement_unavailable: {
    status: 503,
    meaning: 'The service cannot take payments right now. Nothing was charged.',
    action: 'Wait for `Retry-After` seconds.',
  },
} as const satisfies Record<string, RefusalKind>;

export type RefusalCode = keyof typeof REFUSALS;
