// A message that the terminal sends after the "> " prompt (3GPP TS 27.005 §3.5.1 and §4.3).
import { type Answer, CMS, CommandRefusal, cms } from '../at/answer.ts';
import type { AtCommand } from '../at/at-line.ts';
import { linePduOf, tpduOfLinePdu } from '../pdu/address.ts';
import { PduError } from '../pdu/octets.ts';
import { encodeSubmit } from '../pdu/submit.ts';
import { type CommandContext, numberParameter } from './behavior.ts';
import { typedUserData, unquoted } from './terminal-text.ts';

/** 3GPP TS 23.040 §9.2.2: some 20 octets of head, then 140 octets of user data; with room to spare. */
const TPDU_OCTETS_MAX = 176;

/** A message from the terminal, checked as far as the modem checks. */
export interface InputMessage {
  tpdu: Buffer;
  /** With the service center address, upper or lower case as it was typed. */
  linePdu: string;
}

/** Answers with the prompt; `complete` may throw `CommandRefusal`. */
export function messagePrompt(
  { port }: CommandContext,
  complete: (body: string) => Answer | Promise<Answer>,
): Answer {
  return { kind: 'prompt', isShown: true, repeatsPrompt: port.messageFormat === 1, complete };
}

/** `<length>` of a PDU: octets of the TPDU. Throws `CommandRefusal`. */
export function pduLengthParameter(command: AtCommand): number {
  return numberParameter(command, 0, {
    min: 1,
    max: TPDU_OCTETS_MAX,
    refusal: cms(CMS.invalidPduParameter),
  });
}

/** A PDU in hex; its TPDU must have the announced length. Throws `CommandRefusal`. */
export function pduMessage(body: string, announcedLength: number): InputMessage {
  const linePdu = body.replace(/\s/g, '');
  const tpdu = refusing(CMS.invalidPduParameter, () => tpduOfLinePdu(linePdu));
  if (tpdu.length !== announcedLength) throw new CommandRefusal(cms(CMS.invalidPduParameter));
  return { tpdu, linePdu };
}

/** A text with the parameters of +CSMP. An empty destination becomes "0": only +CMGW allows it. */
export function textMessage(
  body: string,
  destination: string,
  { equipment, port }: CommandContext,
): InputMessage {
  return refusing(CMS.invalidTextParameter, () => {
    const number = unquoted(destination, port);
    if (number === undefined || !/^\+?[\d*#]*$/.test(number)) throw new PduError('destination is no number');
    const [firstOctet, validityPeriod, protocolIdentifier] = port.textParameters;
    const tpdu = encodeSubmit({
      firstOctet,
      validityPeriod,
      protocolIdentifier,
      destination: number === '' ? '0' : number,
      userData: typedUserData(body, port),
    });
    return { tpdu, linePdu: linePduOf(equipment.settings.serviceCentre, tpdu) };
  });
}

/** Runs a step of the codec; its `PduError` becomes a refusal with `code`. */
export function refusing<T>(code: number, step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (error instanceof PduError) throw new CommandRefusal(cms(code));
    throw error;
  }
}
