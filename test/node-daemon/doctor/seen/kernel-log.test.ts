// USB devices that went away, counted in the kernel's log.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readDisconnects } from '#node-daemon/doctor/seen/kernel-log.ts';
import { temporaryFolder } from '../../../fixtures/temporary-folder.ts';

t.test('each device is counted by its place', async (t) => {
  const log = join(temporaryFolder(t), 'kmsg');
  const lines = [
    '6,339,5140900,-;usb 1-1.2: USB disconnect, device number 5',
    ' SUBSYSTEM=usb',
    '6,340,5140901,-;usb 1-1.2: new high-speed USB device number 6 using xhci_hcd',
    '6,341,5140902,-;usb 1-1.2: USB disconnect, device number 6',
    '6,342,5140903,-;usb 2-1: USB disconnect, device number 3',
  ];
  writeFileSync(log, `${lines.join('\n')}\n`);
  t.same(
    [...readDisconnects(log)],
    [
      ['1-1.2', 2],
      ['2-1', 1],
    ],
  );
});

t.test('a log that is not there, or may not be read, has none; that of this kernel ends', async (t) => {
  t.equal(readDisconnects('/nowhere').size, 0);
  t.ok(readDisconnects('/dev/kmsg').size >= 0);
});
