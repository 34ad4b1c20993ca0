// A pseudo-terminal port: raw, never blocking, bounded, hung up on close.
import { existsSync, lstatSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { PtyPort } from '#hardware-sim/pty/pty-port.ts';
import { systemClock } from '#shared/clock.ts';
import { silentLogger } from '#shared/log.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { Terminal } from '../fixtures/terminal.ts';

function openPort(t: Test, onBytes: (bytes: Buffer) => void = () => undefined): PtyPort {
  const linkPath = join(temporaryFolder(t), 'm0-at');
  const port = new PtyPort({ linkPaths: [linkPath], clock: systemClock, log: silentLogger, onBytes });
  t.teardown(() => port.close());
  return port;
}

t.test('all octets pass both ways as they are', async (t) => {
  const octets = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
  const port = openPort(t, (bytes) => port.write(bytes));
  const terminal = new Terminal(String(port.linkPaths[0]));
  t.teardown(() => terminal.close());
  terminal.write(octets.toString('latin1'));
  t.equal(await terminal.expect('\u00ff'), octets.toString('latin1'));
});

t.test('a port without a reader takes everything at once and drops the oldest', async (t) => {
  const port = openPort(t);
  const line = Buffer.alloc(1000, 'x');
  // Processor time: other processes on a busy machine do not count. A write that blocked would never end, for lack of a reader.
  const before = process.cpuUsage();
  for (let count = 0; count < 1000; count++) port.write(Buffer.concat([line, Buffer.from(`${count}\n`)]));
  const { system, user } = process.cpuUsage(before);
  t.ok((system + user) / 1000 < 500);
  t.ok(port.droppedBytes > 500_000 && port.droppedBytes < 1_000_000, `${port.droppedBytes} dropped`);
  const terminal = new Terminal(String(port.linkPaths[0]));
  t.teardown(() => terminal.close());
  t.match(await terminal.expect('x999\n'), /x0\n/, 'the bytes that the terminal held, and the newest');
});

t.test('an existing link is replaced, and removed at the end', async (t) => {
  const linkPath = join(temporaryFolder(t), 'm0-at');
  symlinkSync('/dev/nowhere', linkPath);
  const port = new PtyPort({
    linkPaths: [linkPath],
    clock: systemClock,
    log: silentLogger,
    onBytes: () => undefined,
  });
  t.ok(existsSync(linkPath) && lstatSync(linkPath).isSymbolicLink());
  port.close();
  port.close();
  t.equal(existsSync(linkPath), false);
});

t.test('closing hangs up the client', async (t) => {
  const port = openPort(t);
  const terminal = new Terminal(String(port.linkPaths[0]));
  t.teardown(() => terminal.close());
  port.close();
  await terminal.expectHangUp();
  port.write(Buffer.from('nothing'));
});
