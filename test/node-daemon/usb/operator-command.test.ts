// The operator's commands: places filled in, no shell, an end in any case; and resets through sysfs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { authorizedReset } from '#node-daemon/modem/recovery/outside-steps.ts';
import { HangGuard } from '#node-daemon/system/hang-guard.ts';
import { fillIn, hubPortOf, runOperatorCommand } from '#node-daemon/usb/operator-command.ts';
import { systemClock } from '#shared/clock.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { until } from '../../fixtures/until.ts';
import { FakeSysfs, quectel } from './fake-sysfs.ts';

t.test('places are filled in, also twice in a word; unknown ones stay', async (t) => {
  t.same(
    fillIn(['-v', '{vendor}', '{hub}:{port}/{hub}', '{else}'], {
      usb_path: '1-1.2',
      vendor: '12d1',
      product: '1f01',
      hub: '1-1',
      port: '2',
    }),
    ['-v', '12d1', '1-1:2/1-1', '{else}'],
  );
});

t.test('a device is on a port of a hub', async (t) => {
  t.same(hubPortOf('1-1.2'), { hub: '1-1', port: '2' });
  t.same(hubPortOf('2-1.4.3'), { hub: '2-1.4', port: '3' });
  t.same(hubPortOf('1-2'), { hub: '1', port: '2' });
});

t.test('words reach the program as they are', async (t) => {
  await runOperatorCommand(['test', '$HOME; exit 1', '=', '$HOME; exit 1']);
  await t.rejects(runOperatorCommand(['false']));
  await t.rejects(runOperatorCommand(['/nowhere/program']), { code: 'ENOENT' });
});

t.test('a reset disconnects the device and connects it again', async (t) => {
  const sysfs = new FakeSysfs(t);
  sysfs.plug('1-1.2', '2c7c:0125', quectel(0));
  const clock = new ManualClock();
  const reset = authorizedReset({ sysfsRoot: sysfs.root, clock, guard: new HangGuard(systemClock, 1) });
  const authorized = () => readFileSync(join(sysfs.root, 'bus/usb/devices/1-1.2/authorized'), 'utf8').trim();
  const done = reset('1-1.2');
  await until('out', () => authorized() === '0');
  await until('back', () => {
    clock.advance(500);
    return authorized() === '1';
  });
  await done;
});

t.test('resetting a device that is not there is an error', async (t) => {
  const sysfs = new FakeSysfs(t);
  const guard = new HangGuard(systemClock, 1);
  const reset = authorizedReset({ sysfsRoot: sysfs.root, clock: systemClock, guard });
  await t.rejects(reset('1-9'), { code: 'ENOENT' });
});
