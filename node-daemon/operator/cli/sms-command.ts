// `node-daemon sms <slot>`: messages on the SIM, on the modem and in the journal.
import { programCommand } from '#shared/process/commands.ts';
import { onOneLine, toJson } from '#shared/process/terminal.ts';
import type { SlotMessages } from '../procedures/slot-messages.ts';
import { JSON_OPTION, print, WHERE, withOperator } from './with-operator.ts';

export const SMS_COMMAND = programCommand({
  usage: 'sms <slot>',
  about:
    'Show the messages on the SIM and the modem as the daemon found them, and those that wait in the journal.',
  options: { ...WHERE, json: JSON_OPTION },
  run: ({ json, ...where }, [slot = '']) =>
    withOperator('sms', where, async (operator) => {
      const messages = await operator.call('messages', { slot });
      print(json ? toJson(messages, 2) : shown(messages));
    }),
});

function shown({ storages, stored, waiting, parts }: SlotMessages): string {
  const lines = storages.flatMap(({ storage, used, total }) => [
    `${storage}: ${used ?? '?'} of ${total ?? '?'} places used`,
    ...stored
      .filter((message) => message.storage === storage)
      .map(({ index, status, address, sent_at: sentAt, part, text }) =>
        row([`${index}`, status, address, sentAt, part], text),
      ),
  ]);
  return [
    ...lines,
    `journal: ${waiting.length} not yet acknowledged by the control plane, ${parts.length} parts of incomplete messages`,
    ...waiting.map(({ from, received_at: receivedAt, text }) => row([from, receivedAt], text)),
    ...parts.map(({ from, part, received_at: receivedAt, text }) => row([from, receivedAt, part], text)),
  ].join('\n');
}

const row = (cells: readonly (string | null)[], text: string): string =>
  onOneLine(`  ${[...cells.filter((cell) => cell !== null && cell !== ''), text].join('  ')}`);
