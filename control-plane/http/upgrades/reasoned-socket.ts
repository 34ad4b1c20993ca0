// A server's WebSocket whose close frames always have a reason, also when the WebSocket library closes it for a bad frame.
import { WebSocket } from 'ws';

/** Codes with which the library closes (RFC 6455 §7.4.1). */
const REASONS: Readonly<Record<number, string>> = {
  1002: 'not a valid WebSocket frame',
  1007: 'a text frame must be UTF-8',
  1009: 'the message is too long',
};

export class ReasonedSocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    super.close(code, reason ?? (code === undefined ? undefined : REASONS[code]));
  }
}
