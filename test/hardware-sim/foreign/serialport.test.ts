// The clients that most programs for Node are made of: `SerialPort` and `ReadlineParser`, unmodified, on ports of the simulator.
import { once } from 'node:events';
import { ReadlineParser } from '@serialport/parser-readline';
import { SerialPort } from 'serialport';
import t, { type Test } from 'tap';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import { startModem } from '../fixtures/rack.ts';

const LINE_TIMEOUT_MS = 5_000;

/** An open port, and its lines as they come. */
async function linesOf(t: Test, path: string) {
  const port = new SerialPort({ path, baudRate: 115_200 });
  const parser = port.pipe(new ReadlineParser({ delimiter: '\r\n' }));
  await once(port, 'open');
  t.teardown(() => new Promise<void>((resolve) => port.close(() => resolve())));
  /** The next line that matches. */
  const line = async (wanted: RegExp): Promise<string> => {
    const signal = AbortSignal.timeout(LINE_TIMEOUT_MS);
    for (;;) {
      const [text] = (await once(parser, 'data', { signal })) as [string];
      if (wanted.test(text)) return text;
    }
  };
  return { port, line };
}

t.test('AT commands, answers in lines, a text that is announced and read', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  await terminal.close();
  const { port, line } = await linesOf(t, modem.portPaths.at);
  const ask = async (command: string, wanted: RegExp): Promise<string> => {
    const answered = line(wanted);
    port.write(`${command}\r`);
    return answered;
  };
  t.equal(await ask('ATE0', /^OK$/), 'OK');
  t.match(await ask('AT+CSQ', /^\+CSQ/), /^\+CSQ: \d+,99$/);
  await ask('AT+CMGF=0', /^OK$/);
  await ask('AT+CNMI=2,1,0,1,0', /^OK$/);
  const announced = line(/^\+CMTI: /);
  rack.carrier.send({ from: '+15550000012', to: modem.number, body: 'hello' });
  const [, index] = /,(\d+)$/.exec(await announced) ?? [];
  // The PDU ends with the user data: five septets (3GPP TS 23.038 §6.1.2.1).
  t.match(await ask(`AT+CMGR=${index}`, /^[0-9A-F]{20,}$/), /05E8329BFD06$/);
});

t.test('sentences of a GNSS receiver, each with its checksum', async (t) => {
  const { modem } = await startModem(t);
  modem.play(parseFault({ kind: 'nmea_in_pcm', every_ms: 50 }));
  const { line } = await linesOf(t, String(modem.portPaths.pcm));
  for (let count = 0; count < 3; count += 1) {
    const [, body = '', checksum] = /^\$(GPGGA,[^*]+)\*([0-9A-F]{2})$/.exec(await line(/^\$GPGGA/)) ?? [];
    const sum = Buffer.from(body).reduce((all, byte) => all ^ byte, 0);
    t.equal(checksum, sum.toString(16).toUpperCase().padStart(2, '0'), body);
  }
});
