// Messages in the modem's stores: list, read, delete, write (3GPP TS 27.005 §3.4.2, §3.4.3, §3.5.3, §3.5.4).
import { type Answer, CMS, CommandRefusal, cms, ok } from '../at/answer.ts';
import type { AtCommand } from '../at/at-line.ts';
import type { StoredMessage } from '../state/records.ts';
import { type CommandContext, commandFamily, forms, numberParameter } from './behavior.ts';
import { messagePrompt, pduLengthParameter, pduMessage, textMessage } from './message-input.ts';
import { listedLine, readLine, STATUS_NAMES } from './message-listing.ts';
import { requireMessaging } from './sim-card.ts';

const STATUS_UNREAD = 0;
const STATUS_READ = 1;
const STATUS_UNSENT = 2;
const STATUS_ALL = 4;

const list = forms({
  execute: (_, context) => listByStatus(context, STATUS_UNREAD),
  set: (command, context) => listByStatus(context, statusParameter(command, context)),
  test: (_, { port }) =>
    ok(`+CMGL: (${port.messageFormat === 0 ? '0-4' : STATUS_NAMES.map((name) => `"${name}"`).join(',')})`),
});

function statusParameter(command: AtCommand, { port }: CommandContext): number {
  const text = command.parameters[0] ?? '';
  if (port.messageFormat === 0) return numberParameter(command, 0, { min: 0, max: STATUS_ALL });
  const status = (STATUS_NAMES as readonly string[]).indexOf(text.toUpperCase());
  if (status === -1) throw new CommandRefusal(cms(CMS.invalidTextParameter));
  return status;
}

/** Listing a message marks it as read, as reading does. */
function listByStatus(context: CommandContext, status: number): Answer {
  requireMessaging(context);
  const { equipment, port } = context;
  const shown = equipment.stores
    .entries(port.readMemory)
    .filter(([, message]) => status === STATUS_ALL || message.status === status);
  const lines = shown.map(([index, message]) => listedLine(index, message, port));
  equipment.publishListed(port.readMemory, shown);
  const unread = shown.filter(([, message]) => message.status === STATUS_UNREAD).map(([index]) => index);
  equipment.stores.setStatus(port.readMemory, unread, STATUS_READ);
  return ok(...lines);
}

const read = forms({
  set: (command, context) => {
    requireMessaging(context);
    const { equipment, port } = context;
    const index = indexParameter(command, context);
    const message = equipment.stores.get(port.readMemory, index);
    if (message === undefined) return cms(CMS.invalidMemoryIndex);
    const line = readLine(message, port);
    equipment.publishListed(port.readMemory, [[index, message]]);
    if (message.status === STATUS_UNREAD) equipment.stores.setStatus(port.readMemory, [index], STATUS_READ);
    return ok(line);
  },
});

/** Index of a slot, used or not, in the memory that is read from. */
function indexParameter(command: AtCommand, { equipment, port }: CommandContext): number {
  const max = equipment.stores.capacity(port.readMemory);
  return numberParameter(command, 0, { min: 1, max, refusal: cms(CMS.invalidMemoryIndex) });
}

const remove = forms({
  set: (command, context) => {
    requireMessaging(context);
    const { equipment, port } = context;
    const flag = numberParameter(command, 1, { min: 0, max: 4, fallback: 0 });
    const indexes = flag === 0 ? [indexParameter(command, context)] : indexesByFlag(context, flag);
    const fault = equipment.faults.take('delete_fails');
    if (fault !== undefined) return fault.answer === 'ok' ? ok() : cms(CMS.unknownError);
    const used = indexes.filter((index) => equipment.stores.get(port.readMemory, index) !== undefined);
    equipment.removeMessages(port.readMemory, used);
    return ok();
  },
  test: (_, { equipment, port }) => {
    const used = equipment.stores.entries(port.readMemory).map(([index]) => index);
    return ok(`+CMGD: (${used.join(',')}),(0-4)`);
  },
});

/** §3.5.4: 1 read, 2 and sent, 3 and unsent, 4 all. */
function indexesByFlag({ equipment, port }: CommandContext, flag: number): number[] {
  const statuses = [[], [1], [1, 3], [1, 3, 2], [0, 1, 2, 3]][flag] ?? [];
  return equipment.stores
    .entries(port.readMemory)
    .filter(([, message]) => statuses.includes(message.status))
    .map(([index]) => index);
}

/** AT+CMGW=<length>[,<stat>] in PDU mode, AT+CMGW[=<da>] in text mode. */
const write = forms({
  execute: (_, context) => {
    if (context.port.messageFormat === 0) return cms(CMS.invalidPduParameter);
    return writeText('', context);
  },
  set: (command, context) => {
    requireMessaging(context);
    if (context.port.messageFormat === 1) return writeText(command.parameters[0] ?? '', context);
    const length = pduLengthParameter(command);
    const status = numberParameter(command, 1, { min: 0, max: 3, fallback: STATUS_UNSENT });
    return messagePrompt(context, (body) => {
      const { linePdu } = pduMessage(body, length);
      return store({ status, length, pdu: linePdu }, context);
    });
  },
});

function writeText(destination: string, context: CommandContext): Answer {
  requireMessaging(context);
  return messagePrompt(context, (body) => {
    const { tpdu, linePdu } = textMessage(body, destination, context);
    return store({ status: STATUS_UNSENT, length: tpdu.length, pdu: linePdu }, context);
  });
}

function store(message: StoredMessage, { equipment, port }: CommandContext): Answer {
  const index = equipment.stores.freeIndex(port.writeMemory);
  if (index === undefined) return cms(CMS.memoryFull);
  equipment.stores.put(port.writeMemory, index, message);
  return ok(`+CMGW: ${index}`);
}

/** +CMGL, +CMGR, +CMGD, +CMGW. */
export const smsStorage = commandFamily('sms storage', {
  '+CMGL': list,
  '+CMGR': read,
  '+CMGD': remove,
  '+CMGW': write,
});
