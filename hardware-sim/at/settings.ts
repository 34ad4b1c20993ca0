// The settings that commands change, with the defaults after a start. All are volatile.
import { CARRIER_SERVICE_CENTRE } from '../carrier/numbering.ts';

/** Memories for messages (3GPP TS 27.005 §3.1): SIM, modem, status reports. */
export const MEMORIES = ['SM', 'ME', 'SR'] as const;
export type Memory = (typeof MEMORIES)[number];

/** Settings of one AT port: another client on the other port has its own. */
export interface PortSettings {
  /** ATE. */
  echo: boolean;
  /** ATV1: result codes as words. */
  verbose: boolean;
  /** ATQ1: no result codes. */
  quiet: boolean;
  /** S3, S4, S5: codes of carriage return, line feed and backspace. */
  carriageReturn: number;
  lineFeed: number;
  backspace: number;
  /** +CMEE: 0, 1 or 2. */
  errorReporting: number;
  /** +CMGF: 0 PDU mode, 1 text mode. */
  messageFormat: 0 | 1;
  /** +CSDH: text mode shows all header fields. */
  showsTextHeaders: boolean;
  /** +CSCS. */
  characterSet: 'GSM' | 'IRA' | 'UCS2';
  /** +CSMP: first octet, validity period, protocol identifier, data coding scheme. */
  textParameters: [firstOctet: number, validityPeriod: number, pid: number, dcs: number];
  /** +CPMS mem1 (read, list, delete) and mem2 (write, send from). */
  readMemory: Memory;
  writeMemory: Memory;
  /** +COPS=3,n: 0 long name, 1 short name, 2 number. */
  operatorFormat: 0 | 1 | 2;
}

/** Settings of a port after power-on. */
export function defaultPortSettings(): PortSettings {
  return {
    echo: true,
    verbose: true,
    quiet: false,
    carriageReturn: 13,
    lineFeed: 10,
    backspace: 8,
    errorReporting: 0,
    messageFormat: 0,
    showsTextHeaders: false,
    characterSet: 'GSM',
    textParameters: [17, 167, 0, 0],
    readMemory: 'SM',
    writeMemory: 'SM',
    operatorFormat: 0,
  };
}

/** +CNMI: where new messages and reports go (3GPP TS 27.005 §3.4.1). */
interface Indications {
  mode: number;
  mt: number;
  bm: number;
  ds: number;
  bfr: number;
}

/** Settings of the whole modem. */
export interface ModemSettings {
  indications: Indications;
  /** +CSMS: 1 wants each +CMT and +CDS acknowledged by +CNMA. */
  messageService: 0 | 1;
  /** +CPMS mem3: where received messages are stored. */
  receiveMemory: Memory;
  /** +CFUN: 0 minimum, 1 full, 4 radio off. */
  functionality: number;
  /** <mode> of +COPS; 2 leaves the network. */
  operatorMode: number;
  serviceCentre: string;
  /** <n> of +CREG, +CGREG and +CEREG. */
  registrationReports: { '+CREG': number; '+CGREG': number; '+CEREG': number };
  /** +QURCCFG="urcport": where unsolicited result codes go. */
  urcPort: 'usbat' | 'usbmodem' | 'all';
  /** The carrier waits for a reply to its menu. */
  hasUssdDialogue: boolean;
  /** Commands that only keep a value, such as +CLIP. */
  kept: Map<string, string>;
}

/** Settings of a modem after power-on. */
export function defaultModemSettings(): ModemSettings {
  return {
    indications: { mode: 2, mt: 1, bm: 0, ds: 0, bfr: 0 },
    messageService: 0,
    receiveMemory: 'SM',
    functionality: 1,
    operatorMode: 0,
    serviceCentre: CARRIER_SERVICE_CENTRE,
    registrationReports: { '+CREG': 0, '+CGREG': 0, '+CEREG': 0 },
    urcPort: 'usbat',
    hasUssdDialogue: false,
    kept: new Map(),
  };
}
