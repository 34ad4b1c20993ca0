// Why the stream of a call is closed: the call has ended, or only the stream ends.
import { STREAM_CLOSE } from '#shared/voice/close-code.ts';
import { CAUSE, callCloseCode, causeText } from '#shared/voice/release-cause.ts';
import type { StreamClient } from './stream-client.ts';

/** `cause`: of ITU-T Q.850. */
export type StreamClosing = { cause: number } | { code: number; reason: string };

export const REPLACED: StreamClosing = {
  code: STREAM_CLOSE.replaced,
  reason: 'a newer stream took over the call',
};
export const RESTART: StreamClosing = {
  code: STREAM_CLOSE.restart,
  reason: 'restart: open the stream again',
};

/** The service cannot go on with the call, which its node may still have. */
export const failure = (reason: string): StreamClosing => ({
  code: callCloseCode(CAUSE.temporaryFailure),
  reason: `${causeText(CAUSE.temporaryFailure)}: ${reason}`,
});

export function closeStream(client: StreamClient | undefined, closing: StreamClosing): void {
  if ('cause' in closing) client?.ended(closing.cause);
  else client?.close(closing.code, closing.reason);
}
