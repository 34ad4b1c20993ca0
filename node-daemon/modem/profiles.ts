// What differs between makes of modems, as data. The first profile that matches ATI is used.

/** A make of modems. */
export interface ModemProfile {
  readonly name: string;
  /** Tested against the lines of ATI, joined by blanks. */
  readonly matches: RegExp;
  /** Sent once the SIM is ready, each optional: an error answer is ignored. */
  readonly setUp: readonly string[];
  /** Commands that tell the ICCID, best first; the first that answers is used. */
  readonly iccidCommands: readonly string[];
  /** URCs after which all settings are back to their defaults. */
  readonly restarted: RegExp;
  /** URCs that tell that the SIM came, went or was unlocked. */
  readonly simChanged: RegExp;
}

const GENERIC: ModemProfile = {
  name: 'generic 3GPP',
  matches: /(?:)/,
  setUp: ['AT+CREG=2', 'AT+CGREG=2', 'AT+CEREG=2', 'AT+COPS=3,2', 'AT+CSCS="GSM"'],
  // The last reads EF-ICCID itself (3GPP TS 31.102 §4.2.1, 27.007 §8.18): digits swapped.
  iccidCommands: ['AT+CCID', 'AT+ICCID', 'AT^ICCID?', 'AT+CRSM=176,12258,0,0,10'],
  restarted: /^(\^BOOT|RDY$|\+CFUN: ?1$|\^SYSSTART|NORMAL POWER DOWN|POWERED DOWN)/,
  simChanged: /^(\+CPIN:|\+SIMCARD:|\^SIMST:)/,
};

const PROFILES: readonly ModemProfile[] = [
  {
    ...GENERIC,
    name: 'Quectel EC2x',
    matches: /Quectel/i,
    setUp: [
      ...GENERIC.setUp,
      // Without these, URCs may go to another port, and a full store is not told.
      'AT+QURCCFG="urcport","usbat"',
      'AT+QINDCFG="smsfull",1,0',
    ],
    iccidCommands: ['AT+QCCID', ...GENERIC.iccidCommands],
    simChanged: /^(\+CPIN:|\+QUSIM:|\+QSIMSTAT:)/,
  },
  GENERIC,
];

/** The profile for a modem that identifies itself with these lines. */
export function profileOf(identification: readonly string[]): ModemProfile {
  const text = identification.join(' ');
  return PROFILES.find((profile) => profile.matches.test(text)) ?? GENERIC;
}
