// A modem that works on a long command is busy, and neither well nor mute.
import t from 'tap';
import { ok } from '#hardware-sim/at/answer.ts';
import { commandFamily, forms } from '#hardware-sim/behaviors/behavior.ts';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import { reportSchema } from '#node-daemon/doctor/report/report.ts';
import { startToolRig } from '../operator/tool-rig.ts';
import { findingOf } from './examined-rack.ts';

t.test('a search of all networks through the daemon', { timeout: 120_000 }, async (t) => {
  const rig = await startToolRig(t, { modems: 2 });
  const [modem] = rig.simulator.modems;
  let finish = (): void => undefined;
  const searching = new Promise<void>((started) => {
    modem?.define(
      commandFamily('searching', {
        '+COPS': forms({
          test: () => {
            started();
            return new Promise(
              (resolve) => (finish = () => resolve(ok('+COPS: (2,"Simrack","","00101",7)'))),
            );
          },
          read: () => ok('+COPS: 0,2,"00101",7'),
          set: () => ok(),
        }),
      }),
    );
  });
  await rig.startDaemon();
  const examined = async () => reportSchema.parse(JSON.parse((await rig.tool('doctor', '--json')).stdout));
  const search = rig.tool('at', '1-1.1', 'AT+COPS=?', '--unsafe');
  await searching;
  const busy = await examined();
  t.match(findingOf(busy, 'port', '1-1.1'), {
    verdict: 'warning',
    seen: /not queried: the modem is busy with AT\+COPS for \d+ s/,
    advice: /Run doctor again in a minute/,
  });
  t.match(findingOf(busy, 'registration', '1-1.1'), { verdict: 'skipped' });
  t.match(findingOf(busy, 'port', '1-1.2'), { verdict: 'ok' });
  finish();
  t.match(await search, { status: 0, stdout: /Simrack/ });
  t.match(findingOf(await examined(), 'port', '1-1.1'), { verdict: 'ok' });

  modem?.play(parseFault({ kind: 'silent' }));
  t.match(findingOf(await examined(), 'port', '1-1.1'), { verdict: 'problem', advice: /plug/ }, 'mute');
});
