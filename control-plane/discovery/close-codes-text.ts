// The close codes of the WebSockets of calls, as a sentence for descriptions.
import { PRESENCE_CLOSE, STREAM_CLOSE } from '#shared/voice/close-code.ts';

/** Turns "userGone" into "user gone". */
const words = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const listed = (codes: Readonly<Record<string, number>>): string =>
  Object.entries(codes)
    .map(([name, code]) => `${code} ${words(name)}`)
    .join(', ');

/** After the codes of `again` a client can open the socket again: the call goes on. */
export function closeCodesText(socket: 'stream' | 'presence'): string {
  if (socket === 'presence') return `${listed(PRESENCE_CLOSE)}.`;
  const { goingAway, internalError, restart } = STREAM_CLOSE;
  const again = [goingAway, internalError, restart].join(', ');
  return `4000 plus the cause of ITU-T Q.850 when the call has ended; ${listed(STREAM_CLOSE)}. After ${again} or a broken connection open the stream again: the call stays up for 5 seconds by default.`;
}
