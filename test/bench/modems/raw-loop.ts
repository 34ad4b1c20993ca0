// The other side of the modem benches: one loop a modem that sends and receives, all in this process.
import { createInterface } from 'node:readline';
import { RawModem } from './raw-modem.ts';
import { submitPdu } from './submit-pdu.ts';

/** The work of each modem after a line on standard input. Messages come at any time: reading goes first. */
interface Work {
  send: number;
  receive: number;
  /** Recipients, one for each modem. */
  to: string[];
}

const modems = await Promise.all((process.env['PORTS'] ?? '').split(',').map((path) => RawModem.open(path)));
process.stdout.write(`${JSON.stringify({ modems: modems.length })}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  const { send, receive, to } = JSON.parse(line) as Work;
  await Promise.all(
    modems.map((modem, position) =>
      loop(modem, { send, receive, pdu: submitPdu(to[position] ?? '+13105550188') }),
    ),
  );
  process.stdout.write(`${JSON.stringify({ done: true })}\n`);
}

async function loop(
  modem: RawModem,
  { send, receive, pdu }: { send: number; receive: number; pdu: string },
): Promise<void> {
  let sent = 0;
  let received = 0;
  while (sent < send || received < receive) {
    if (await modem.receive()) received += 1;
    else if (sent < send) {
      await modem.send(pdu);
      sent += 1;
    } else await modem.announcement();
  }
}
