// The yardstick of the modem benches: a plain AT dialogue, without a queue, a check or a memory.
import { once } from 'node:events';
import { ReadlineParser } from '@serialport/parser-readline';
import { SerialPort } from 'serialport';

const SET_UP = [
  'AT',
  'ATE0',
  'AT+CMEE=1',
  'AT+CMGF=0',
  'AT+CPMS="ME","ME","ME"',
  // As the daemon has it: stored and announced, delivery reports directly.
  'AT+CNMI=2,1,0,1,0',
];

interface InFlight {
  body: string | undefined;
  lines: string[];
  resolve: (lines: string[]) => void;
  reject: (error: Error) => void;
}

export class RawModem {
  readonly #port: SerialPort;
  #inFlight: InFlight | undefined;
  /** Places that were announced and not read yet. */
  readonly #announced: number[] = [];
  #onAnnounced: (() => void) | undefined;

  private constructor(port: SerialPort) {
    this.#port = port;
    // The prompt has no line end.
    port.on('data', (bytes: Buffer) => {
      if (this.#inFlight?.body !== undefined && bytes.includes('> ')) this.#giveBody();
    });
    port.pipe(new ReadlineParser({ delimiter: '\r\n' })).on('data', (line: string) => this.#onLine(line));
  }

  static async open(path: string): Promise<RawModem> {
    const port = new SerialPort({ path, baudRate: 115_200 });
    await once(port, 'open');
    const modem = new RawModem(port);
    for (const command of SET_UP) await modem.#command(command);
    return modem;
  }

  /** Gives a PDU, with its service center octet, and waits for the network's answer. */
  async send(pdu: string): Promise<void> {
    await this.#command(`AT+CMGS=${pdu.length / 2 - 1}`, pdu);
  }

  /** Reads and deletes the message that was announced first; false when none is. */
  async receive(): Promise<boolean> {
    const index = this.#announced.shift();
    if (index === undefined) return false;
    const [head, pdu] = await this.#command(`AT+CMGR=${index}`);
    if (head === undefined || pdu === undefined) throw new Error(`nothing at place ${index}`);
    await this.#command(`AT+CMGD=${index}`);
    return true;
  }

  /** Resolves at the next +CMTI. */
  announcement(): Promise<void> {
    return new Promise((resolve) => {
      this.#onAnnounced = resolve;
    });
  }

  #command(text: string, body?: string): Promise<string[]> {
    return new Promise((resolve, reject) => {
      this.#inFlight = { body, lines: [], resolve, reject };
      this.#port.write(`${text}\r`);
    });
  }

  #giveBody(): void {
    const flight = this.#inFlight;
    if (flight === undefined) return;
    this.#port.write(`${flight.body}\x1a`);
    flight.body = undefined;
  }

  #onLine(line: string): void {
    const place = /^\+CMTI: "ME",(\d+)$/.exec(line)?.[1];
    if (place !== undefined) {
      this.#announced.push(Number(place));
      this.#onAnnounced?.();
      return;
    }
    const flight = this.#inFlight;
    if (line === 'OK') {
      this.#inFlight = undefined;
      flight?.resolve(flight.lines);
    } else if (line.includes('ERROR')) {
      this.#inFlight = undefined;
      flight?.reject(new Error(line));
    } else if (line !== '' && line !== '> ') flight?.lines.push(line);
  }
}
