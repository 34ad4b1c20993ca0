// The AT commands of the daemon and of the simulator, and what they know of each make of modems.
import { DEFAULT_BEHAVIORS } from '../../../hardware-sim/behaviors/default-behaviors.ts';
import { MAKES } from '../../../hardware-sim/makes/all-makes.ts';
import { timeoutOf } from '../../../node-daemon/at/command-timeout.ts';
import { PROFILES } from '../../../node-daemon/profiles/find-profile.ts';
import type { ModemProfile } from '../../../node-daemon/profiles/profile.ts';
import { code, codes, shownMs, table } from '../markdown.ts';
import type { Page } from '../page.ts';
import { type SentCommand, sentCommands } from '../source/at-literals.ts';

export const AT_PAGE: Page = {
  file: 'at.md',
  title: 'AT commands and modem makes',
  about:
    'The AT commands that the daemon sends, what it knows of each make of modems, and the commands that the simulator answers.',
  body: () =>
    [
      '## Commands of the daemon',
      '`…` stands for a value. The daemon sends registration queries (`AT+CREG?`) for the domains of the profile. *Time limit* is the time until the daemon stops waiting for the result. ' +
        '*Used by*: `modem` is the driver for texts and registration, `voice` is for calls, `doctor` is `node-daemon doctor`.',
      commandTable(),
      '## Makes that the daemon knows',
      'A modem of another make is used with the profile `generic 3GPP`.',
      ...PROFILES.flatMap((profile) => [`### ${profile.name}`, profileTable(profile)]),
      '## Commands of the simulator',
      'Commands that every simulated modem answers. All others answer `ERROR`.',
      table(
        ['Family', 'Commands'],
        DEFAULT_BEHAVIORS.map(({ commands = [], name }) => [name, codes(commands)]),
      ),
      '## Makes of the simulator',
      table(
        ['Make', 'Reports', 'USB id', 'Own commands'],
        Object.values(MAKES).map(({ behaviors, manufacturer, model, name, revision, usb }) => [
          code(name),
          `${manufacturer} ${model}, ${revision}`,
          code(`${usb.vendorId}:${usb.productId}`),
          codes(new Set(behaviors.flatMap(({ commands = [] }) => commands))),
        ]),
      ),
    ].join('\n\n'),
};

function commandTable(): string {
  const byName = new Map<string, SentCommand[]>();
  for (const command of sentCommands())
    byName.set(command.name, [...(byName.get(command.name) ?? []), command]);
  const simulated = simulatedCommands();
  return table(
    ['Command', 'Forms', 'Time limit', 'Used by', 'Simulated by'],
    [...byName]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, sent]) => [
        code(`AT${name}`),
        codes(new Set(sent.map(({ line }) => line))),
        shownMs(Math.max(...sent.map(({ line }) => timeoutOf(line)))),
        [...new Set(sent.map(({ sender }) => sender))].join(', '),
        simulated.get(name) ?? '',
      ]),
  );
}

/** By command: all makes, or which. */
function simulatedCommands(): Map<string, string> {
  const makes = Object.values(MAKES).flatMap(({ behaviors, name }) =>
    behaviors.flatMap(({ commands = [] }) => commands.map((command) => [command, name] as const)),
  );
  const found = new Map<string, string>();
  for (const [command, make] of makes)
    found.set(command, [...new Set([...(found.get(command)?.split(', ') ?? []), make])].join(', '));
  for (const { commands = [] } of DEFAULT_BEHAVIORS)
    for (const command of commands) found.set(command, 'all');
  return found;
}

function profileTable({
  iccidCommands,
  indications,
  pinTries,
  receiving,
  registration,
  restartCommand,
  settleMs,
  setUp,
  usb,
  usbStorage,
  voice,
}: ModemProfile): string {
  const rows: [string, string][] = [
    ['USB ids', codes(usb.map(({ product, vendor }) => `${vendor}:${product}`))],
    ['AT interfaces, best first', codes(new Set(usb.map(({ atInterfaces }) => atInterfaces.join(', '))))],
    [
      'Audio interface',
      codes(
        new Set(usb.flatMap(({ audioInterface }) => (audioInterface === undefined ? [] : [audioInterface]))),
      ),
    ],
    ['USB ids as storage', codes(usbStorage.map(({ product, vendor }) => `${vendor}:${product}`))],
    ['Set-up', codes([...setUp, ...voice.setUp])],
    ['ICCID, first that answers', codes(iccidCommands)],
    ['Tries left for the PIN', pinTries === undefined ? '' : code(pinTries.command)],
    ['Registration domains', codes(registration.map((domain) => `AT+${domain}`))],
    ['Values of `AT+CNMI`, best first', codes(indications)],
    ['Storages for received messages, best first', codes(receiving)],
    ['Restart', `${code(restartCommand)}, then left alone for ${shownMs(settleMs)}`],
    ['Audio on a serial port, on', codes(voice.serial.on)],
    ['Audio on a serial port, off', codes(voice.serial.off)],
    ['Sample rate', voice.serial.rateHz === 'measured' ? 'measured' : `${voice.serial.rateHz} Hz`],
    ['Audio on a sound card, on', codes(voice.card?.on ?? [])],
    ['Key press', code(voice.keyCommand('1'))],
  ];
  return table(
    ['Property', 'Value'],
    rows.filter(([, value]) => value !== ''),
  );
}
