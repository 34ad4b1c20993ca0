// Identifies a modem: reads its IMEI, maker, model and firmware (3GPP TS 27.007 §5.1 to §5.4), and finds its profile.
import { imeiSchema } from '#shared/identities.ts';
import { ask } from '../at/ask.ts';
import type { AtChannel } from '../at/channel.ts';
import { atCommand } from '../at/command.ts';
import { findProfile } from '../profiles/find-profile.ts';
import type { ModemProfile } from '../profiles/profile.ts';
import type { UsbId } from '../usb/usb-device.ts';

/** The identity of a modem. */
interface ModemIdentity {
  readonly profile: ModemProfile;
  readonly imei: string | undefined;
  /** Maker and model, at most 64 characters. */
  readonly model: string | undefined;
  readonly firmware: string | undefined;
}

/** No echo, result codes as words, errors as numbers. */
export const BASIC_SETTINGS = ['ATE0', 'ATV1', 'AT+CMEE=1'];
/** Matches answers without a prefix. URCs begin with a sign or are words in capitals. */
const TEXT = /^(?:\+(?:CGM[IMR]|GCAP):|(?![+^*$#%])(?!(?:RING|RDY|START|NO CARRIER|SMS DONE|PB DONE)$))./;
const IMEI = /^(?:\+C?GSN: ?)?"?(\d{14,16})"?$/;
const MODEL_LENGTH_MAX = 64;

/** Sets the format of answers and identifies the modem. Rejects with `AtTimeoutError` and `PortClosedError`. */
export async function identify(channel: AtChannel, usbId: UsbId | undefined): Promise<ModemIdentity> {
  for (const command of BASIC_SETTINGS) await ask(channel, atCommand(command));
  const identification = (await ask(channel, atCommand('ATI', { answer: TEXT }))) ?? [];
  const maker = await readText(channel, 'AT+CGMI');
  const model = await readText(channel, 'AT+CGMM');
  const firmware = await readText(channel, 'AT+CGMR');
  return {
    profile: findProfile([...identification, maker ?? ''], usbId),
    imei: (await readImei(channel, 'AT+CGSN')) ?? (await readImei(channel, 'AT+GSN')),
    model: modelOf(maker, model) ?? modelOf(labelled(identification, 0), labelled(identification, 1)),
    firmware: firmware ?? labelled(identification, 2),
  };
}

/** Returns maker and model as one text. Many model names include the maker. */
export function modelOf(maker: string | undefined, model: string | undefined): string | undefined {
  const [first = ''] = (maker ?? '').split(/[ ,]/);
  const repeats = first !== '' && model?.toUpperCase().startsWith(first.toUpperCase()) === true;
  const text = [repeats ? undefined : maker, model]
    .filter((part) => part !== undefined && part !== '')
    .join(' ');
  return text === '' ? undefined : text.slice(0, MODEL_LENGTH_MAX);
}

/** Returns this line of ATI, without the "Model: " that some makes put before it. */
function labelled(identification: readonly string[], position: number): string | undefined {
  return identification[position]?.replace(/^[A-Z][a-z]+: ?/, '');
}

async function readText(channel: AtChannel, command: string): Promise<string | undefined> {
  const [line] = (await ask(channel, atCommand(command, { answer: TEXT }))) ?? [];
  const text = line
    ?.replace(/^\+CGM[IMR]: ?/, '')
    .replaceAll('"', '')
    .trim();
  return text === '' ? undefined : text;
}

async function readImei(channel: AtChannel, command: string): Promise<string | undefined> {
  const [line = ''] = (await ask(channel, atCommand(command, { answer: IMEI, answerSingle: true }))) ?? [];
  const imei = imeiSchema.safeParse(IMEI.exec(line)?.[1]);
  return imei.success ? imei.data : undefined;
}
