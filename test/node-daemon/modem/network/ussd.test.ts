// USSD dialogues over a scripted modem: one at a time. And a modem that announces answers without an end.
import t from 'tap';
import { AtChannel } from '#node-daemon/at/channel.ts';
import { Ussd, UssdBusyError } from '#node-daemon/modem/network/ussd.ts';
import { systemClock } from '#shared/clock.ts';
import { silentLogger } from '#shared/log.ts';
import { lines, ScriptedPort } from '../../../fixtures/nodes/scripted-port.ts';

t.test('a dialogue that begins together with another one is refused, and sends nothing', async (t) => {
  const port = new ScriptedPort()
    .on(/^AT/, lines('OK'))
    .on(/^AT\+CSCS\?$/, lines('+CSCS: "GSM"', 'OK'))
    .on(/^AT\+CUSD=1,/, lines('OK', '+CUSD: 0,"Balance: 5",15'));
  const channel = new AtChannel(port, systemClock, silentLogger);
  const ussd = new Ussd({ channel, clock: systemClock, isPacked: () => false });
  channel.onUrc(({ line }) => ussd.onUrc(line));
  const [first, second] = await Promise.allSettled([ussd.run('*100#', []), ussd.run('*101#', [])]);
  t.match(first, { status: 'fulfilled', value: { text: 'Balance: 5' } });
  t.match(second, { status: 'rejected', reason: UssdBusyError });
  t.equal(port.count(/^AT\+CUSD=1,/), 1);
  t.match(await ussd.run('*101#', []), { text: 'Balance: 5' }, 'the next one is accepted');
});

t.test('lines of nothing but quotation marks are read in no time', { timeout: 20_000 }, (t) => {
  const port = new ScriptedPort();
  const channel = new AtChannel(port, systemClock, silentLogger);
  const ussd = new Ussd({ channel, clock: systemClock, isPacked: () => false });
  t.ok(ussd.onUrc('+CUSD: 1,"x'));
  for (let line = 0; line < 60; line += 1) t.ok(ussd.onUrc(`${'"'.repeat(2_000)}x`));
  t.end();
});
