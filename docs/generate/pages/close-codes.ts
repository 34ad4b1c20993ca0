// The close codes of every WebSocket, from the constants that the code closes with.
import { LINK_CLOSE, RECONNECT_AFTER_STATUS, reconnectAfterClose } from '../../../shared/link/close.ts';
import { MEDIA_CLOSE, PRESENCE_CLOSE, STREAM_CLOSE } from '../../../shared/voice/close-code.ts';
import { CAUSE, callClose, callCloseCode } from '../../../shared/voice/release-cause.ts';
import { code, table } from '../markdown.ts';
import type { Page } from '../page.ts';
import { docComments } from '../source/doc-comments.ts';

const SOURCES = ['shared/voice/close-code.ts', 'shared/link/close.ts'];

export const CLOSE_CODES_PAGE: Page = {
  file: 'close-codes.md',
  title: 'WebSocket close codes',
  about: 'Codes below 4000 are those of RFC 6455. Codes of 4000 and above are our own.',
  body() {
    const comments = new Map(SOURCES.flatMap((source) => [...docComments(source)]));
    const rows = (name: string, codes: Readonly<Record<string, number>>): string[][] =>
      Object.entries(codes).map(([key, value]) => [
        code(String(value)),
        comments.get(`${name}/${key}`) ?? '',
      ]);
    return [
      '## The audio of a call: /voice/stream/{call_id}',
      `When a call ends, its stream is closed with 1000 after a normal end, otherwise with 4000 plus the cause of ITU-T Q.850. The reason text is the cause and its name. These are the causes that the service sets itself; a network may report others, up to ${callCloseCode(127)}. With \`?protocol=twilio\` and \`?protocol=vonage\` the code is always 1000.`,
      table(
        ['Code', 'Reason'],
        Object.values(CAUSE)
          .map(callClose)
          .map(({ code: closeCode, reason }) => [code(String(closeCode)), code(reason)]),
      ),
      'The other codes. After 1007, 1008, 1009, 4401 or a broken connection the call stays up for `STREAM_HOLD_MS` (5 seconds by default): open the stream again within this time. If the client itself closes the stream, the service hangs up.',
      table(['Code', 'Meaning'], rows('STREAM_CLOSE', STREAM_CLOSE)),
      '## Presence: /voice/presence/{number}',
      table(['Code', 'Meaning'], rows('PRESENCE_CLOSE', PRESENCE_CLOSE)),
      '## Media link: /nodes/media',
      'The node closes the link with 4000 plus the cause when its call has ended.',
      table(['Code', 'Meaning'], rows('MEDIA_CLOSE', MEDIA_CLOSE)),
      '## Control link: /nodes/link',
      `The last column is the next action of the node. ${(comments.get('Reconnect') ?? '').replace(/^What the node does next\. /, '')}`,
      table(
        ['Code', 'Meaning', 'Then'],
        rows('LINK_CLOSE', LINK_CLOSE).map((row, at) => [
          ...row,
          code(reconnectAfterClose(Object.values(LINK_CLOSE)[at] ?? 0)),
        ]),
      ),
      'HTTP statuses of a refused upgrade. After any other status the node retries.',
      table(
        ['Status', 'Meaning', 'Then'],
        Object.entries(RECONNECT_AFTER_STATUS).map(([status, then]) => [
          code(status),
          comments.get(`RECONNECT_AFTER_STATUS/${status}`) ?? '',
          code(then),
        ]),
      ),
    ].join('\n\n');
  },
};
