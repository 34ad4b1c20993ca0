// Identities of modems and SIM cards, computed from the slot's index, so that a restarted rack has the same ones.

/** A modem, without the card in it. */
export interface ModemIdentity {
  /** "m0", "m1" … */
  slot: string;
  /** 15 digits. */
  imei: string;
}

export interface SimIdentity {
  /** 19 digits. */
  iccid: string;
  /** 15 digits, beginning with the code of its network. */
  imsi: string;
  /** E.164. */
  number: string;
}

const TYPE_ALLOCATION_CODE = '86758804';
/** 89 for telecom, 01 for the USA, then an issuer of our own (ITU-T E.118 §3). */
const ICCID_PREFIX = '8901999';
/** Mobile country and network code of the test network (3GPP TS 23.003 annex). */
export const NETWORK_CODE = '00101';
const IMSI_DIGITS = 15;
/** 555-0100 starts the numbers that the North American plan keeps for fiction; large racks go on upward. */
const FIRST_NUMBER = 12065550100;

/** `index` counts slots from 0. */
export function modemIdentityOf(index: number): ModemIdentity {
  const serial = String(index + 1).padStart(6, '0');
  return { slot: `m${index}`, imei: withLuhnDigit(TYPE_ALLOCATION_CODE + serial) };
}

/** The card that a slot begins with. */
export function simIdentityOf(index: number, network: string = NETWORK_CODE): SimIdentity {
  const serial = String(index + 1);
  return {
    iccid: withLuhnDigit(ICCID_PREFIX + serial.padStart(11, '0')),
    imsi: network + serial.padStart(IMSI_DIGITS - network.length, '0'),
    number: `+${FIRST_NUMBER + index}`,
  };
}

/** Appends the check digit of ISO/IEC 7812-1 annex B. */
function withLuhnDigit(digits: string): string {
  const sum = [...digits].reverse().reduce((total, digit, position) => {
    const weighted = Number(digit) * (position % 2 === 0 ? 2 : 1);
    return total + (weighted > 9 ? weighted - 9 : weighted);
  }, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}
