// The facts that doctor reads in udev rules: the vendors for which ModemManager is kept away and autosuspend is off.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readUdevRules } from '#node-daemon/doctor/seen/udev-rules.ts';
import { temporaryFolder } from '../../../fixtures/temporary-folder.ts';

const read = async (t: Parameters<typeof temporaryFolder>[0], text: string) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'rules.d'));
  writeFileSync(join(folder, 'rules.d/60-modems.rules'), text);
  writeFileSync(
    join(folder, 'rules.d/60-modems.rules.bak'),
    'ATTRS{idVendor}=="ffff", ENV{ID_MM_DEVICE_IGNORE}="1"',
  );
  const rules = await readUdevRules([join(folder, 'rules.d'), join(folder, 'missing')]);
  return { ignored: [...rules.ignoredByModemManager], awake: [...rules.awake] };
};

t.test('a vendor on the line of the setting, or on a line of its own before it', async (t) => {
  t.same(await read(t, 'ATTRS{idVendor}=="2c7c", ENV{ID_MM_DEVICE_IGNORE}="1"\n'), {
    ignored: ['2c7c'],
    awake: [],
  });
  const text = [
    'SUBSYSTEMS=="usb", ATTRS{idVendor}=="1e0e|2C7C", ENV{SIMRACK_USB_PATH}="$id"',
    'SUBSYSTEM=="usb", ENV{ID_MM_DEVICE_IGNORE}="1"',
    'SUBSYSTEM=="usb", TEST=="power/control", \\',
    '  ATTR{power/control}="on"',
  ].join('\n');
  t.same(await read(t, text), { ignored: ['1e0e', '2c7c'], awake: ['1e0e', '2c7c'] });
});

t.test('comments, tests and other settings do not count', async (t) => {
  const text = [
    '# ATTRS{idVendor}=="2c7c", ENV{ID_MM_DEVICE_IGNORE}="1"',
    'ATTRS{idVendor}=="12d1", ENV{ID_MM_DEVICE_IGNORE}=="1", GOTO="end"',
    'ATTRS{idVendor}=="12d1", ATTR{power/control}="auto"',
  ].join('\n');
  t.same(await read(t, text), { ignored: [], awake: [] });
});
