// Serial ports for real, on pseudo-terminals: bytes pass, and every way of going away is noticed.
import { readlinkSync, renameSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { PtyPort } from '#hardware-sim/pty/pty-port.ts';
import { type Port, serialPorts } from '#node-daemon/at/port.ts';
import { HangGuard } from '#node-daemon/system/hang-guard.ts';
import { systemClock } from '#shared/clock.ts';
import { silentLogger } from '#shared/log.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

async function setUp(t: Test) {
  const folder = temporaryFolder(t);
  const path = join(folder, 'm0-at');
  const guard = new HangGuard(systemClock, 2);
  const received: string[] = [];
  const ptys: PtyPort[] = [];
  const plug = (linkPath = path): PtyPort => {
    const onBytes = (bytes: Buffer): void => void received.push(bytes.toString('latin1'));
    const pty = new PtyPort({ linkPaths: [linkPath], clock: systemClock, log: silentLogger, onBytes });
    ptys.push(pty);
    return pty;
  };
  const openPort = serialPorts({ clock: systemClock, guard });
  const opened: Port[] = [];
  const open = async (): Promise<{ port: Port; heard: string[]; closed: Error[] }> => {
    const port = await openPort(path);
    opened.push(port);
    const [heard, closed]: [string[], Error[]] = [[], []];
    port.onData((bytes) => heard.push(Buffer.from(bytes).toString('latin1')));
    port.onClose((reason) => closed.push(reason));
    return { port, heard, closed };
  };
  t.teardown(async () => {
    for (const port of opened) await port.close();
    for (const pty of ptys) pty.close();
  });
  return { guard, open, path, plug, received };
}

t.test('bytes pass both ways', async (t) => {
  const { open, plug, received } = await setUp(t);
  const pty = plug();
  const { port, heard } = await open();
  await port.write(Buffer.from('AT\r'));
  await until('the command', () => received.join('') === 'AT\r');
  pty.write(Buffer.from('\r\nOK\r\n'));
  await until('the answer', () => heard.join('') === '\r\nOK\r\n');
});

t.test('a device that is not there, and one that is taken, are errors', async (t) => {
  const { open, plug } = await setUp(t);
  await t.rejects(open(), { code: 'ENOENT' });
  plug();
  await open();
  await t.rejects(open(), /lock|busy/i);
});

t.test('every hang-up is noticed once, also in the middle of traffic', async (t) => {
  const { guard, open, plug } = await setUp(t);
  let noticed = 0;
  for (let round = 0; round < 40; round += 1) {
    const pty = plug();
    const { port, closed } = await open();
    // Half of them while bytes come and go: there the binding of serialport misses some.
    if (round % 2 === 0) {
      for (let burst = 0; burst < 20; burst += 1) pty.write(Buffer.alloc(200, 'x'));
      port.write(Buffer.from('AT\r')).catch(() => undefined);
    }
    pty.close();
    await until('the hang-up', () => closed.length > 0);
    noticed += closed.length;
    await t.rejects(port.write(Buffer.from('AT\r')));
  }
  t.equal(noticed, 40);
  t.equal(guard.hanging, 0);
});

t.test('a port is not even opened while others that hang have all threads', async (t) => {
  const { guard, open, plug } = await setUp(t);
  plug();
  let release = (): void => undefined;
  const hanging = new Promise<void>((resolve) => {
    release = resolve;
  });
  const others = ['/dev/a', '/dev/b'].map((key) => guard.call({ key, timeoutMs: 50, run: () => hanging }));
  await Promise.allSettled(others);
  t.ok(guard.isExhausted);
  const opening = open();
  release();
  await opening;
  t.equal(guard.hanging, 0, 'it waited for its turn');
});

t.test('closing is reported once and may be repeated; the port can be opened again', async (t) => {
  const { open, plug, received } = await setUp(t);
  plug();
  const first = await open();
  await Promise.all([first.port.close(), first.port.close()]);
  await first.port.close();
  t.equal(first.closed.length, 1);
  const second = await open();
  await second.port.write(Buffer.from('again'));
  await until('the bytes', () => received.join('') === 'again');
});

t.test('a port closes at once although the modem has not taken its bytes', async (t) => {
  const { open, plug } = await setUp(t);
  plug();
  const { port } = await open();
  // This is more than the kernel takes before the other end reads: part of it waits.
  port.write(Buffer.alloc(256 * 1024, 'x')).catch(() => undefined);
  const startedAt = performance.now();
  await port.close();
  t.ok(performance.now() - startedAt < 1_000);
});

t.test('a device node that is removed or replaced ends the port, although no hang-up came', async (t) => {
  const { open, path, plug } = await setUp(t);
  plug();
  const gone = await open();
  const target = readlinkSync(path);
  unlinkSync(path);
  await until('the loss', () => gone.closed.length === 1);
  t.match(gone.closed[0], { message: 'the device file is gone or belongs to another device' });

  symlinkSync(target, path);
  const replaced = await open();
  plug(`${path}-other`);
  renameSync(`${path}-other`, path);
  await until('the replacement', () => replaced.closed.length === 1);
});
