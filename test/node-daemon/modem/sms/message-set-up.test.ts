// How a modem is made to announce and to store: the best form that it takes, for good, whatever passes meanwhile.
import t from 'tap';
import { atCommand, atQuery } from '#node-daemon/at/command.ts';
import { POLL_MS } from '#node-daemon/modem/pauses.ts';
import { joinedCommand, STORAGE_TIMEOUT_MS } from '#node-daemon/modem/sms/storage/storage-access.ts';
import { lines, type ScriptedPort } from '../../../fixtures/nodes/scripted-port.ts';
import { until } from '../../../fixtures/until.ts';
import { SessionRig } from '../session-rig.ts';

const HI = '07915155000000F0040B915155000010F200005211211100000002C834';
const WITH_REPORTS = '2,1,0,1,0';

/** Refuses AT+CNMI with reports so often, and returns the command that it took. */
function refusing(times: number, error: string) {
  let left = times;
  let taken = '';
  return (port: ScriptedPort): unknown =>
    port
      .on(/^AT\+CNMI=(.*)$/, ([, value = '']) => {
        if (value === WITH_REPORTS && left-- > 0) return lines(error);
        taken = value;
        return lines('OK');
      })
      .on(/^AT\+CNMI\?$/, () => lines(`+CNMI: ${taken}`, 'OK'));
}

for (const error of ['ERROR', '+CME ERROR: 4', '+CMS ERROR: 303']) {
  t.test(`a passing ${error} costs no reports`, async (t) => {
    const { rig } = await SessionRig.startInService(t, refusing(2, error));
    t.same(
      rig.port.received.filter((text) => text.startsWith('AT+CNMI=')),
      Array.from({ length: 3 }, () => `AT+CNMI=${WITH_REPORTS}`),
    );
  });
}

t.test('an error that lasts longer than the set-up costs reports until the next polls', async (t) => {
  const { rig, ended } = await SessionRig.startInService(t, refusing(4, 'ERROR'));
  let trouble: unknown;
  void ended.then((error) => {
    trouble = error;
  });
  const last = (): string | undefined => rig.port.received.filter((text) => /^AT\+CNMI=/.test(text)).at(-1);
  await rig.pass(3 * POLL_MS);
  t.equal(last(), `AT+CNMI=${WITH_REPORTS}`);
  t.equal(trouble, undefined, 'a setting that was changed on purpose is not taken for a restart');
});

t.test('a command on the line of a choice has the time of the slower one', async (t) => {
  const timeoutOf = (command: ReturnType<typeof atCommand>): number =>
    joinedCommand({ joined: true }, 'SM', command).timeoutMs;
  t.equal(timeoutOf(atQuery('AT+CMGF?', '+CMGF:')), STORAGE_TIMEOUT_MS);
  t.equal(timeoutOf(atCommand('AT+CMGL=4', { timeoutMs: 60_000 })), 60_000);
});

t.test('a modem that never accepts reports is not asked for ever', async (t) => {
  const { rig } = await SessionRig.startInService(t, refusing(Number.POSITIVE_INFINITY, 'ERROR'));
  await rig.pass(4 * POLL_MS);
  const asked = rig.port.count(/^AT\+CNMI=2,1,0,1,0$/);
  await rig.pass(4 * POLL_MS);
  t.equal(rig.port.count(/^AT\+CNMI=2,1,0,1,0$/), asked);
});

t.test('a modem that takes one command on a line only is read and emptied all the same', async (t) => {
  const { rig } = await SessionRig.startInService(t, (port) => {
    port.joins = false;
  });
  rig.device.deliver(HI, { storage: 'SM' });
  rig.startTime();
  await until('an empty store', () => rig.device.stores['SM']?.size === 0);
  t.equal(rig.journal.state.facts.size, 1);
});
