// The groups of the daemon's user: of its account, and those that a service manager added to its process.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readDaemonUser } from '#node-daemon/doctor/seen/daemon-user.ts';
import { temporaryFolder } from '../../../fixtures/temporary-folder.ts';

const folder = temporaryFolder(t);
const procRoot = join(folder, 'proc');
const OWN = process.getuid?.() ?? 0;
writeFileSync(
  join(folder, 'passwd'),
  'root:x:0:0:root:/root:/bin/sh\nsimrack:x:990:991::/var/lib/simrack-node:/usr/sbin/nologin\n',
);
writeFileSync(join(folder, 'group'), 'root:x:0:\ndialout:x:20:mallory,simrack\naudio:x:29:simracker\n');
mkdirSync(join(procRoot, '77'), { recursive: true });
writeFileSync(
  join(procRoot, '77/status'),
  'Name:\tnode\nUid:\t1\t1\t1\t1\nGid:\t5\t6\t5\t5\nGroups:\t20 29 \n',
);

const groupsOf = (uid: number, devices: readonly string[] = []) =>
  readDaemonUser(uid, { etcRoot: folder, procRoot, processes: [{ pid: 77, name: 'node', devices }] })?.groups;

t.test('of an account', async (t) => {
  t.same(groupsOf(990), [991, 20], 'its own group, and those that name it');
  t.equal(groupsOf(12_345), undefined, 'an account that does not exist');
});

t.test('of a process with a serial port, which has this user', async (t) => {
  t.same(groupsOf(OWN, ['/dev/ttyUSB2'])?.slice(-3), [6, 20, 29]);
  t.notOk(groupsOf(OWN, ['/dev/null'])?.includes(29), 'any program of the user may be anything');
  t.equal(groupsOf(OWN + 12_345, ['/dev/ttyUSB2']), undefined, 'another user');
});
