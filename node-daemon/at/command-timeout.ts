// The time limits of commands, as data.

interface CommandTimeout {
  readonly match: RegExp;
  readonly timeoutMs: number;
}

/**
 * Modems answer ordinary commands within 300 ms (Quectel EC2x manual), some only after seconds when SIM
 * or radio are busy. A later answer is not lost: the channel resynchronizes first.
 */
const COMMAND_TIMEOUT_MS = 5_000;

/** From this time on, a command waits for the network, or for a whole storage. Until then a modem that does not answer may be well. */
export const LONG_COMMAND_MS = 60_000;

/** The first match counts. Where makers differ, this is the longer time. */
const TIMEOUTS: readonly CommandTimeout[] = [
  // Time of the network: 120 s (Quectel EC2x), 40 s (chan_quectel), 300 s (ModemManager).
  { match: /^AT\+CM[GS]S=/, timeoutMs: 120_000 },
  // Searches all bands: 30 to 180 s (Quectel EC2x: 180 s). Setting the format (3) is ordinary.
  { match: /^AT\+COPS=[0124?]/, timeoutMs: 180_000 },
  // 120 s (Quectel EC2x).
  { match: /^AT\+CUSD=1/, timeoutMs: 120_000 },
  // 90 s each (ModemManager; Quectel EC2x for CHUP).
  { match: /^ATD|^ATA$|^AT\+CHUP/, timeoutMs: 90_000 },
  // Up to 255 messages at SIM speed.
  { match: /^AT\+CMGL/, timeoutMs: 60_000 },
  // 25 s for many messages (SIMCom).
  { match: /^AT\+CMGD=/, timeoutMs: 25_000 },
  // SIMs are slow, and slower when they are full.
  { match: /^AT\+(CMGR|CMGW|CPMS)=/, timeoutMs: 15_000 },
  // 15 s (Quectel EC2x): the radio goes off or on.
  { match: /^AT\+CFUN=/, timeoutMs: 15_000 },
  // Wait for the card itself: 5 s (Quectel EC2x), 9 s (SIMCom SIM7600).
  { match: /^AT[+^](CPIN|CPINR|CLCK|CPWD|QPINC|SPIC)/, timeoutMs: 10_000 },
  { match: /^AT[+^](CCID|QCCID|CICCID|ICCID|CRSM|CIMI|CNUM|CSCA)/, timeoutMs: 10_000 },
];

/** The range over all commands, for people. */
export const TIMEOUT_SECONDS = {
  min: COMMAND_TIMEOUT_MS / 1000,
  max: Math.max(...TIMEOUTS.map(({ timeoutMs }) => timeoutMs)) / 1000,
};

/** Returns the time that a command may take from its last byte to its final result code, in ms. */
export function timeoutOf(text: string): number {
  return TIMEOUTS.find(({ match }) => match.test(text))?.timeoutMs ?? COMMAND_TIMEOUT_MS;
}
