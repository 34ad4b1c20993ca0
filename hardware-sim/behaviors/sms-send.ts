// Messages that go out: from the terminal and from a store (3GPP TS 27.005 §3.5.1, §3.5.2, §4.3).
import { type Answer, CMS, cms, ok } from '../at/answer.ts';
import type { AtCommand } from '../at/at-line.ts';
import type { Submission } from '../carrier/carrier.ts';
import { tpduOfLinePdu } from '../pdu/address.ts';
import { hexFromOctets } from '../pdu/octets.ts';
import { withDestination } from '../pdu/submit.ts';
import { type CommandContext, commandFamily, forms, numberParameter, textParameter } from './behavior.ts';
import {
  type InputMessage,
  messagePrompt,
  pduLengthParameter,
  pduMessage,
  refusing,
  textMessage,
} from './message-input.ts';
import { requireMessaging } from './sim-card.ts';
import { unquoted } from './terminal-text.ts';

const STATUS_SENT = 3;

/** AT+CMGS=<length> in PDU mode, AT+CMGS=<da>[,<toda>] in text mode. */
const send = forms({
  set: (command, context) => {
    requireMessaging(context);
    if (context.port.messageFormat === 1) return sendText(command, context);
    const length = pduLengthParameter(command);
    return messagePrompt(context, (body) => submit('+CMGS', pduMessage(body, length), context));
  },
});

function sendText(command: AtCommand, context: CommandContext): Answer {
  const destination = textParameter(command, 0);
  if (destination === undefined) return cms(CMS.invalidTextParameter);
  return messagePrompt(context, (body) =>
    submit('+CMGS', textMessage(body, internationalized(destination, command), context), context),
  );
}

/** Type of address 145 says "+" where the digits do not. */
function internationalized(destination: string, command: AtCommand): string {
  return command.parameters[1] === '145' && /^\d/.test(destination) ? `+${destination}` : destination;
}

/** AT+CMSS=<index>[,<da>[,<toda>]]. */
const sendFromStore = forms({
  set: (command, context) => {
    requireMessaging(context);
    const { equipment, port } = context;
    const max = equipment.stores.capacity(port.writeMemory);
    const refusal = cms(CMS.invalidMemoryIndex);
    const index = numberParameter(command, 0, { min: 1, max, refusal });
    const stored = equipment.stores.get(port.writeMemory, index);
    if (stored === undefined) return refusal;
    const message = readdressed(stored.pdu, command, context);
    const markAsSent = (): void => equipment.stores.setStatus(port.writeMemory, [index], STATUS_SENT);
    return submit('+CMSS', message, context, markAsSent);
  },
});

function readdressed(pdu: string, command: AtCommand, { port }: CommandContext): InputMessage {
  const tpdu = refusing(CMS.invalidPduParameter, () => tpduOfLinePdu(pdu));
  const typed = textParameter(command, 1);
  if (typed === undefined) return { tpdu, linePdu: pdu };
  const destination = internationalized(unquoted(typed, port) ?? '', command);
  const changed = refusing(CMS.invalidTextParameter, () => withDestination(tpdu, destination));
  const serviceCentre = pdu.slice(0, pdu.length - tpdu.length * 2);
  return { tpdu: changed, linePdu: serviceCentre + hexFromOctets(changed) };
}

/** Hands a message to the network and answers with its reference. */
function submit(
  name: '+CMGS' | '+CMSS',
  { tpdu, linePdu }: InputMessage,
  context: CommandContext,
  onAccepted: () => void = () => undefined,
): Answer | Promise<Answer> {
  const { equipment } = context;
  const fault = equipment.faults.get('cms_error');
  if (fault !== undefined && (fault.command === undefined || fault.command === name)) {
    equipment.faults.take('cms_error');
    return cms(fault.code);
  }
  if (!equipment.radio.isRegistered) return cms(CMS.noNetworkService);
  const answerTo = (submission: Submission | undefined): Answer => {
    if (submission === undefined) return { kind: 'nothing' };
    if (submission.kind === 'refused') return cms(submission.code);
    onAccepted();
    return ok(`${name}: ${submission.messageReference}`);
  };
  const submission = equipment.transmit(tpdu, linePdu);
  return submission instanceof Promise ? submission.then(answerTo) : answerTo(submission);
}

/** +CMGS and +CMSS. */
export const smsSend = commandFamily('sms send', {
  '+CMGS': send,
  '+CMSS': sendFromStore,
});
