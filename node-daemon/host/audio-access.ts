// Opens the audio of a modem: its sound card if it has one, otherwise its serial port.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#shared/clock.ts';
import type { OpenPort } from '../at/port.ts';
import { openCardPcm } from '../audio/card-pcm.ts';
import { openSerialPcm } from '../audio/pcm-device.ts';
import type { MakeVoice } from '../profiles/profile.ts';
import type { Place } from '../slot/place.ts';
import type { AudioAccess } from '../voice/telephone.ts';

/** Undefined if the modem's audio is unknown. */
export function audioAccess(
  { audio, usb }: Place,
  { card, serial }: MakeVoice,
  { clock, openPort, sysfsRoot }: { clock: Clock; openPort: OpenPort; sysfsRoot: string },
): AudioAccess | undefined {
  if (audio?.card !== undefined && card !== undefined && usb !== undefined) {
    const { rateHz } = card;
    const cardName = audio.card;
    return {
      audio: card,
      open: async () => openCardPcm({ device: deviceOf(sysfsRoot, usb.path, cardName), rateHz, clock }),
    };
  }
  const port = audio?.port;
  return port === undefined ? undefined : { audio: serial, open: () => openSerialPcm(openPort, port) };
}

/** Returns ALSA's name of the card by its id, which is stable. Its number depends on the order in which cards appear. */
function deviceOf(sysfsRoot: string, usbPath: string, card: string): string {
  const devices = join(sysfsRoot, 'bus/usb/devices');
  for (const name of readdirSync(devices)) {
    if (!name.startsWith(`${usbPath}:`)) continue;
    const id = idIn(join(devices, name, 'sound', card, 'id'));
    if (id !== undefined) return `hw:CARD=${id},DEV=0`;
  }
  throw new Error('the sound card is gone');
}

function idIn(file: string): string | undefined {
  try {
    return /^\w{1,31}/.exec(readFileSync(file, 'latin1'))?.[0];
  } catch {
    return undefined;
  }
}
