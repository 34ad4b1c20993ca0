// Message format, memories, announcements and acknowledgement (3GPP TS 27.005 §3.2 to §3.4).
import { CME, CMS, cme, cms, ok } from '../at/answer.ts';
import { MEMORIES, type Memory } from '../at/settings.ts';
import { type CommandContext, commandFamily, forms, numberParameter, textParameter } from './behavior.ts';
import { requireMessaging } from './sim-card.ts';
import { quoted, unquoted } from './terminal-text.ts';

/** Status reports have a memory to read from only. */
const WRITABLE_MEMORIES: readonly Memory[] = ['SM', 'ME'];

const messageFormat = forms({
  set: (command, { port }) => {
    port.messageFormat = numberParameter(command, 0, { min: 0, max: 1 }) === 1 ? 1 : 0;
    return ok();
  },
  read: (_, { port }) => ok(`+CMGF: ${port.messageFormat}`),
  test: () => ok('+CMGF: (0,1)'),
});

const messageService = forms({
  set: (command, { equipment }) => {
    equipment.settings.messageService = numberParameter(command, 0, { min: 0, max: 1 }) === 1 ? 1 : 0;
    return ok('+CSMS: 1,1,1');
  },
  read: (_, { equipment }) => ok(`+CSMS: ${equipment.settings.messageService},1,1,1`),
  test: () => ok('+CSMS: (0,1)'),
});

const memories = forms({
  set: (command, context) => {
    requireMessaging(context);
    const { equipment, port } = context;
    const read = memoryParameter(textParameter(command, 0), MEMORIES);
    const write = memoryParameter(textParameter(command, 1) ?? port.writeMemory, WRITABLE_MEMORIES);
    const receive = memoryParameter(
      textParameter(command, 2) ?? equipment.settings.receiveMemory,
      WRITABLE_MEMORIES,
    );
    if (read === undefined || write === undefined || receive === undefined) {
      return cms(CMS.operationNotAllowed);
    }
    port.readMemory = read;
    port.writeMemory = write;
    equipment.settings.receiveMemory = receive;
    // Another store may have room.
    equipment.wakeCarrier();
    return ok(`+CPMS: ${usages(context).join(',')}`);
  },
  read: (_, context) => {
    requireMessaging(context);
    const names = selected(context);
    return ok(
      `+CPMS: ${usages(context)
        .map((usage, index) => `"${names[index]}",${usage}`)
        .join(',')}`,
    );
  },
  test: () => {
    const list = (names: readonly string[]): string => `(${names.map((name) => `"${name}"`).join(',')})`;
    return ok(`+CPMS: ${list(MEMORIES)},${list(WRITABLE_MEMORIES)},${list(WRITABLE_MEMORIES)}`);
  },
});

function memoryParameter(text: string | undefined, allowed: readonly Memory[]): Memory | undefined {
  return allowed.find((memory) => memory === text?.toUpperCase());
}

function selected({ equipment, port }: CommandContext): Memory[] {
  return [port.readMemory, port.writeMemory, equipment.settings.receiveMemory];
}

function usages(context: CommandContext): string[] {
  const { stores } = context.equipment;
  return selected(context).map((memory) => `${stores.used(memory)},${stores.capacity(memory)}`);
}

const indications = forms({
  set: (command, { equipment }) => {
    const now = equipment.settings.indications;
    equipment.settings.indications = {
      mode: numberParameter(command, 0, { min: 0, max: 2, fallback: now.mode }),
      mt: numberParameter(command, 1, { min: 0, max: 3, fallback: now.mt }),
      bm: numberParameter(command, 2, { min: 0, max: 3, fallback: now.bm }),
      ds: numberParameter(command, 3, { min: 0, max: 2, fallback: now.ds }),
      bfr: numberParameter(command, 4, { min: 0, max: 1, fallback: now.bfr }),
    };
    equipment.smsReceiver.onIndicationsSet();
    equipment.wakeCarrier();
    return ok();
  },
  read: (_, { equipment }) => {
    const { mode, mt, bm, ds, bfr } = equipment.settings.indications;
    return ok(`+CNMI: ${mode},${mt},${bm},${ds},${bfr}`);
  },
  test: () => ok('+CNMI: (0,1,2),(0,1,2,3),(0,1,2,3),(0,1,2),(0,1)'),
});

/** AT+CNMA, =0 and =1 acknowledge; =2 refuses, and the network tries again later. */
const acknowledgement = forms({
  execute: (_, context) => acknowledge(context, true),
  set: (command, context) => acknowledge(context, numberParameter(command, 0, { min: 0, max: 2 }) !== 2),
  test: () => ok('+CNMA: (0-2)'),
});

function acknowledge({ equipment }: CommandContext, isAccepted: boolean) {
  return equipment.smsReceiver.acknowledge(isAccepted) ? ok() : cms(CMS.noAcknowledgementExpected);
}

const serviceCentre = forms({
  set: (command, context) => {
    requireMessaging(context);
    const number = unquoted(textParameter(command, 0) ?? '', context.port);
    if (number === undefined || !/^\+?\d{3,20}$/.test(number)) return cms(CMS.invalidTextParameter);
    context.equipment.settings.serviceCentre = number;
    return ok();
  },
  read: (_, context) => {
    requireMessaging(context);
    const { serviceCentre: number } = context.equipment.settings;
    return ok(`+CSCA: ${quoted(number, context.port)},${number.startsWith('+') ? 145 : 129}`);
  },
});

const textParameters = forms({
  set: (command, { port }) => {
    const [firstOctet, validityPeriod, pid, dcs] = port.textParameters;
    const octet = (index: number, fallback: number) =>
      numberParameter(command, index, { min: 0, max: 255, fallback });
    const chosen = octet(0, firstOctet);
    // Only a SUBMIT with a relative validity period, or none, can be written as numbers.
    if ((chosen & 0x03) !== 1 || (chosen & 0x08) !== 0) return cme(CME.incorrectParameters);
    port.textParameters = [chosen, octet(1, validityPeriod), octet(2, pid), octet(3, dcs)];
    return ok();
  },
  read: (_, { port }) => ok(`+CSMP: ${port.textParameters.join(',')}`),
});

const textHeaders = forms({
  set: (command, { port }) => {
    port.showsTextHeaders = numberParameter(command, 0, { min: 0, max: 1 }) === 1;
    return ok();
  },
  read: (_, { port }) => ok(`+CSDH: ${port.showsTextHeaders ? 1 : 0}`),
  test: () => ok('+CSDH: (0,1)'),
});

/** Format, memories, announcements, acknowledgement, service center. */
export const smsSettings = commandFamily('sms settings', {
  '+CMGF': messageFormat,
  '+CSMS': messageService,
  '+CPMS': memories,
  '+CNMI': indications,
  '+CNMA': acknowledgement,
  '+CSCA': serviceCentre,
  '+CSMP': textParameters,
  '+CSDH': textHeaders,
});
