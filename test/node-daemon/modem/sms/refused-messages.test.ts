// A disk that refuses for hours: waiting messages are logged in a line a minute, with their number and the reason.
import t from 'tap';
import { PortClosedError } from '#node-daemon/at/at-error.ts';
import { REFUSED_LOG_MS } from '#node-daemon/modem/sms/refused-messages.ts';
import { isEmpty, setUpInbox } from '../../../fixtures/nodes/scripted-inbox.ts';
import { lines as modemLines } from '../../../fixtures/nodes/scripted-port.ts';
import { recordedLog } from '../../../fixtures/recorded-log.ts';
import { until } from '../../../fixtures/until.ts';

const MESSAGES = 20;
const LINE = 'messages stay on the modem: the journal refuses them';
/** A DELIVER "Hi" with this number in its time stamp. */
const hi = (number: number): string =>
  `07915155000000F0040B915155000010F2000052111211${String(number).padStart(2, '0')}000002C834`;

t.test('messages that stay on the modem', async (t) => {
  const { log, lines } = recordedLog();
  const { clock, disk, modem, start } = await setUpInbox(t, log);
  const { inbox, bodies } = await start(['ME']);
  disk.full = true;
  for (let number = 1; number <= MESSAGES; number += 1) {
    modem.deliver(hi(number), { index: number, announce: false });
  }
  for (let minute = 0; minute < 5; minute += 1) {
    for (let look = 0; look < 4; look += 1) {
      await inbox.sweep();
      clock.advance(REFUSED_LOG_MS / 4);
    }
  }
  const reported = lines.filter(({ message }) => message !== 'journal writes failed');
  const reason = 'the journal cannot be written: ENOSPC';
  t.strictSame(
    reported,
    Array.from({ length: 5 }, () => ({
      level: 'warn',
      fields: { messages: MESSAGES, reason },
      message: LINE,
    })),
  );
  t.equal(lines.length - reported.length, 1, 'the disk itself, once');
  disk.full = false;
  await inbox.sweep();
  t.ok(isEmpty(modem));
  t.equal(bodies().length, MESSAGES);
  clock.advance(REFUSED_LOG_MS);
  await inbox.sweep();
  t.equal(lines.length, reported.length + 1, 'nothing more when all is accepted');
});

t.test('messages given directly', async (t) => {
  const { log, lines } = recordedLog();
  const { disk, modem, start } = await setUpInbox(t, log);
  await start();
  modem.port.on(/^AT\+CSMS\?$/, modemLines('+CSMS: 1,1,1,1', 'OK'));
  disk.full = true;
  for (let number = 1; number <= MESSAGES; number += 1) modem.port.say(modemLines('+CMT: ,22', hi(number)));
  await until('all refused', () => modem.port.count(/^AT\+CNMA=2$/) === MESSAGES);
  t.equal(
    lines.filter(({ message }) => message === 'refused messages that the modem forwarded directly').length,
    1,
  );
});

t.test('a port that closes while messages are given directly is no error', async (t) => {
  const { log, lines } = recordedLog();
  const infos: string[] = [];
  const { modem, sim, start } = await setUpInbox(t, {
    ...log,
    info: (_fields, message) => void infos.push(message),
  });
  await start();
  modem.port.on(/^AT\+CSMS\?$/, modemLines('+CSMS: 1,1,1,1', 'OK'));
  const give = (number: number) => modem.port.say(modemLines('+CMT: ,22', hi(number)));
  sim.confirm = () => Promise.reject(new PortClosedError('the port is gone'));
  give(1);
  await until('its card was not confirmed', () => infos.length === 1);
  sim.confirm = () => Promise.resolve();
  modem.port.on(/^AT\+CNMA=1$/, () => undefined);
  give(2);
  await until('its acknowledgement waits for an answer', () => modem.port.count(/^AT\+CNMA=1$/) === 1);
  give(3);
  modem.port.hangUp();
  await until('neither is acknowledged', () => infos.length === 3);
  t.strictSame(lines, []);
});
