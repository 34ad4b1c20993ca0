// USSD: codes to the carrier and its answers (3GPP TS 27.007 §7.15).
import { CME, cme, ok } from '../at/answer.ts';
import type { PortSettings } from '../at/settings.ts';
import { answerToCode, answerToReply, type UssdAnswer } from '../carrier/ussd-service.ts';
import {
  packedLength,
  packSeptets,
  septetsByCharacter,
  textFromSeptets,
  unpackSeptets,
} from '../pdu/gsm7.ts';
import { hexFromOctets, octetsFromHex } from '../pdu/octets.ts';
import { ucs2FromText } from '../pdu/user-data.ts';
import { type Behavior, type CommandContext, commandFamily, forms, numberParameter } from './behavior.ts';
import { unquoted } from './terminal-text.ts';

/** 3GPP TS 23.038 §5: default alphabet, language unspecified; UCS2. */
const DCS_GSM7 = 15;
const DCS_UCS2 = 72;
/** +CUSD=2 ends the dialogue. */
const CANCEL = 2;

/** +CUSD. `isPacked`: as Huawei's sticks, which take and give hexadecimal of packed septets. */
export function ussd({ isPacked }: { isPacked: boolean }): Behavior {
  const run = forms({
    set: (command, context) => {
      const { equipment, port } = context;
      const n = numberParameter(command, 0, { min: 0, max: 2 });
      const typed = command.parameters[1];
      if (n === CANCEL) equipment.settings.hasUssdDialogue = false;
      if (n === CANCEL || typed === undefined) return ok();
      if (!equipment.radio.isRegistered) return cme(CME.noNetworkService);
      const code = isPacked ? unpackedCode(typed) : unquoted(typed, port);
      if (code === undefined) return cme(CME.incorrectParameters);
      answerLater(code, context, isPacked);
      return ok();
    },
    read: () => ok('+CUSD: 0'),
    test: () => ok('+CUSD: (0-2)'),
  });
  return commandFamily('USSD', { '+CUSD': run });
}

/** The OK comes first. */
function answerLater(code: string, { equipment, port }: CommandContext, isPacked: boolean): void {
  const { settings } = equipment;
  const answer = settings.hasUssdDialogue ? answerToReply(code, equipment.number) : answerToCode(code);
  settings.hasUssdDialogue = answer.kind === 'text' && answer.waits;
  const line = lineOf(answer, port, isPacked);
  if (line !== undefined) setImmediate(() => equipment.sendUrc(line));
}

function lineOf(answer: UssdAnswer, port: PortSettings, isPacked: boolean): string | undefined {
  if (answer.kind === 'silence') return undefined;
  if (answer.kind === 'result') return `+CUSD: ${answer.m}`;
  const { text, waits, alphabet } = answer;
  const m = waits ? 1 : 0;
  if (alphabet === 'ucs2') return `+CUSD: ${m},"${hexFromOctets(ucs2FromText(text))}",${DCS_UCS2}`;
  return `+CUSD: ${m},"${shown(text, port, isPacked)}",${DCS_GSM7}`;
}

function shown(text: string, port: PortSettings, isPacked: boolean): string {
  const septets = septetsByCharacter(text)?.flat() ?? [];
  if (isPacked) return hexFromOctets(packSeptets(septets));
  if (port.characterSet === 'UCS2') return hexFromOctets(ucs2FromText(text));
  return port.characterSet === 'GSM' ? String.fromCharCode(...septets) : text;
}

/** `undefined` for what is no hexadecimal, as characters are not. */
function unpackedCode(typed: string): string | undefined {
  if (!/^([0-9A-Fa-f]{2})+$/.test(typed)) return undefined;
  const octets = octetsFromHex(typed);
  const count = Math.floor((octets.length * 8) / 7);
  const septets = unpackSeptets(octets, count);
  // Seven bits that are left over are a CR, or nothing.
  const isFull = packedLength(count) === octets.length && count % 8 === 0;
  const last = septets.at(-1);
  return textFromSeptets(isFull && (last === 0x0d || last === 0) ? septets.slice(0, -1) : septets);
}
