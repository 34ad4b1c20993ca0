// A request that gets no answer but an error; `server.ts` writes it as {error, message}.
import type { Duplex } from 'node:stream';
import { WaveError } from '#shared/voice/wave.ts';
import { CallRefused } from '../calls/call-switch.ts';
import { CarrierError } from '../carrier/carrier.ts';
import { FaultError } from '../faults/fault-set.ts';
import { CardNotIssuedError, UnknownCardError } from '../modem/sim-cards.ts';
import { PduError } from '../pdu/octets.ts';
import { UsbError } from '../usb/usb-bus.ts';

/** HTTP status of each `error` of an error body. */
export const STATUSES = {
  invalid_json: 400,
  invalid_request: 400,
  invalid_fault: 400,
  unknown_number: 404,
  unknown_modem: 404,
  unknown_sim: 404,
  unknown_call: 404,
  sim_exists: 409,
  too_many_sims: 503,
  line_busy: 409,
  unreachable: 409,
  place_taken: 409,
  no_far_end: 409,
  invalid_wav: 400,
  forbidden: 403,
  too_many_subscribers: 503,
  not_found: 404,
  method_not_allowed: 405,
  payload_too_large: 413,
  carrier_full: 503,
  too_many_clients: 503,
  internal_error: 500,
} as const;

type ErrorCode = keyof typeof STATUSES;

/** Thrown by routes; its message is shown to the client. */
export class HttpError extends Error {
  override name = 'HttpError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The error for the client that an error of the rack means; undefined for a fault of the simulator. */
export function httpErrorOf(error: unknown): HttpError | undefined {
  if (error instanceof HttpError) return error;
  if (error instanceof CallRefused || error instanceof CarrierError || error instanceof CardNotIssuedError)
    return new HttpError(error.code, error.message);
  if (error instanceof FaultError) return new HttpError('invalid_fault', error.message);
  if (error instanceof UsbError) return new HttpError('place_taken', error.message);
  if (error instanceof PduError) return new HttpError('invalid_request', error.message);
  if (error instanceof UnknownCardError) return new HttpError('unknown_sim', error.message);
  return error instanceof WaveError ? new HttpError('invalid_wav', `wav: ${error.message}`) : undefined;
}

/** Ends a connection that asked for an upgrade, whether or not the client ends its side: the server stops when all are closed. */
export function refuseUpgrade(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`, () => socket.destroy());
}
