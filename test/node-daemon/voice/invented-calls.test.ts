// A modem that invents calls: the daemon reports no more of them than a network delivers, and the texts of the modem go on.
import t from 'tap';
import { AtChannel } from '#node-daemon/at/channel.ts';
import { Journal } from '#node-daemon/journal/journal.ts';
import { modemShares } from '#node-daemon/journal/share.ts';
import { GENERIC_VOICE } from '#node-daemon/profiles/generic.ts';
import { CallRegistry } from '#node-daemon/voice/call-registry.ts';
import { Telephone } from '#node-daemon/voice/telephone.ts';
import { MODEM_FACTS } from '#shared/link/messages.ts';
import { silentLogger } from '#shared/log.ts';
import { loadResampler } from '#shared/voice/resample.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { lines } from '../../fixtures/nodes/scripted-port.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';
import { portWithCalls, runTasks } from './line-rig.ts';

t.test('calls beyond the share are not reported, and the next one is in time', async (t) => {
  const clock = new ManualClock();
  const { log, lines: logged } = recordedLog();
  const port = portWithCalls({ calls: [] });
  const journal = await Journal.open({ folder: temporaryFolder(t), clock, log: silentLogger });
  t.teardown(() => journal.close());
  let reports = 0;
  const onChange = (): void => {
    reports += 1;
  };
  const calls = new CallRegistry({ journal, clock, log: silentLogger, isLinked: () => true, onChange });
  t.teardown(() => calls.stop());
  const shares = modemShares({ journal, clock });
  const telephone = new Telephone({
    iccid: '8901000000000000017',
    channel: new AtChannel(port, clock, silentLogger),
    clock,
    log,
    voice: GENERIC_VOICE,
    isRegistered: () => true,
    createResampler: await loadResampler(),
    access: undefined,
    calls,
    takesCall: () => shares.calls.take(),
    onAudioDegraded: () => undefined,
  });
  const { burst, perSecond } = MODEM_FACTS.calls;
  const ring = async (): Promise<void> => {
    port.say(lines('RING', '+CLIP: "+13105550188",145'));
    port.say(lines('NO CARRIER'));
    await until('the end', async () => {
      await runTasks();
      return !telephone.isBusy;
    });
  };
  for (let call = 0; call < 2 * burst; call += 1) await ring();
  await until('the facts', () => journal.state.facts.size === burst);
  t.equal(reports, burst);
  t.match(logged, [{ level: 'warn', message: /^incoming calls are not reported/ }]);
  t.ok(shares.messages.take(), 'the texts of the modem have a share of their own');
  clock.advance(1_000 / perSecond);
  await ring();
  await until('one more', () => journal.state.facts.size === burst + 1);
});
