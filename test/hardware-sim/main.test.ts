// The program from outside: its line, its options, its lock, and what is left after kill -9.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { request } from '../fixtures/network/json-request.ts';
import { served } from '../fixtures/network/served.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { post } from './fixtures/http.ts';
import { quietTerminal } from './fixtures/rack.ts';

const ROOT = join(import.meta.dirname, '../..');
const COMMAND = ['dist/hardware-sim/main.js'];
const START_TIMEOUT_MS = 20_000;
const SUBMIT = '018131000B915155001032F40000000BC8329BFD06DDDF723619';

interface Ready {
  simulator_url: string;
  dir: string;
  modems: { imei: string; number: string; ports: { at: string } }[];
}

interface Started {
  child: ChildProcess;
  ready: Ready;
  url: string;
  /** Path of the first modem's port. */
  port: string;
}

async function startMain(t: Test, dir: string): Promise<Started> {
  const args = [...COMMAND, '--modems', '2', '--dir', dir];
  const env = { ...process.env, LOG_LEVEL: 'warn' };
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  const timeout = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS);
  for await (const line of createInterface({ input: child.stdout })) {
    clearTimeout(timeout);
    const ready = JSON.parse(line) as Ready;
    return { child, ready, url: ready.simulator_url, port: ready.modems[0]?.ports.at ?? '' };
  }
  throw new Error('the simulator did not start');
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const exited = once(child, 'exit');
  child.kill(signal);
  const [code] = (await exited) as [number | null];
  return code;
}

t.test('the simulator prints its addresses, runs, and cleans up', async (t) => {
  const dir = temporaryFolder(t);
  const { child, ready, url } = await startMain(t, dir);
  t.equal(ready.dir, dir);
  t.same((await request(`${url}/modems`)).body, ready.modems);
  t.ok(existsSync(join(dir, 'm1-pcm')));
  const second = spawnSync(process.execPath, [...COMMAND, '--dir', dir], { cwd: ROOT, encoding: 'utf8' });
  t.equal(second.status, 1);
  t.equal(second.stderr, `error: ${dir} is in use by another hardware-sim\n`);
  t.ok(existsSync(join(dir, 'm1-pcm')), 'the second one has broken nothing');
  t.equal(await end(child, 'SIGTERM'), 0);
  t.same(readdirSync(dir), ['rack.jsonl']);
});

t.test('a port that is taken is refused with the name of its option', async (t) => {
  const { port } = new URL(await served(t, createServer()));
  const args = ['--dir', temporaryFolder(t), '--port', port];
  const { status, stderr } = spawnSync(process.execPath, [...COMMAND, ...args], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  t.equal(status, 1);
  t.match(stderr, `--port (SIMULATOR_PORT): port ${port} is already in use`);
});

t.test('lists its options and refuses bad ones', async (t) => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [...COMMAND, ...args], { cwd: ROOT, encoding: 'utf8' });
  const help = run('--help');
  t.equal(help.status, 0);
  const names = `MODEMS RACK_DIR SIMULATOR_PORT MAKES RADIO_DELAY_MS BOOT_MS MESSAGING_AFTER_MS STORAGE_FIRST_MS
    IDENTICAL_SERIALS SIM_SLOTS MODEM_SLOTS REPORT_SLOTS KEEP KEEP_EVENTS LOG_LEVEL`;
  for (const name of names.split(/\s+/)) t.match(help.stdout, `(${name}`);
  for (const [option, value] of [
    ['--makes', 'quectel,nokia'],
    ['--identical-serials', 'maybe'],
    ['--sim-slots', '0'],
  ] as const) {
    const { status, stderr } = run(option, value);
    t.equal(status, 1);
    t.match(stderr, option);
  }
  for (const modems of ['0', '257', 'x', '1.5']) {
    const { status, stderr } = run('--modems', modems);
    t.equal(status, 1);
    t.match(stderr, /--modems/);
  }
});

t.test('kill -9 loses nothing that was accepted', async (t) => {
  const dir = temporaryFolder(t);
  let { child, url, ready, port } = await startMain(t, dir);
  const to = ready.modems[0]?.number;
  const send = (body: string) => post(`${url}/sms`, { from: '+15550000012', to, body });
  for (let count = 0; count < 52; count++) await send(`message ${count}`);
  let terminal = await quietTerminal(t, port);
  const listing = async (): Promise<string> => {
    const text = await terminal.command('AT+CMGL=4');
    return text.replaceAll(/\r\n\+CMTI: "SM",\d+\r\n/g, '');
  };
  await listing();
  await terminal.command('AT+CMGD=7');
  t.match(await terminal.message('AT+CMGS=24', SUBMIT), /\+CMGS: 0/);
  // Slot 7 was filled again, and listing it marks it as read.
  await listing();
  const before = await listing();
  const heard = (await request(`${url}/sms`)).body;
  // The last request is answered, and the process is dead before it can do anything else.
  t.match(await send('the last'), { status: 202 });
  await end(child, 'SIGKILL');
  t.ok(readdirSync(dir).length > 1, 'links are left behind');

  ({ child, url, ready, port } = await startMain(t, dir));
  terminal = await quietTerminal(t, port);
  t.equal(await listing(), before, 'the store is the same to the octet');
  t.same((await request(`${url}/sms`)).body, heard);
  await terminal.command('AT+CMGD=1,4');
  await terminal.expect('+CMTI: "SM",2');
  t.match(await listing(), /\+CMGL: 1,0.*\+CMGL: 2,0/s, 'messages that waited at the carrier are delivered');
  t.match(await terminal.message('AT+CMGS=24', SUBMIT), /\+CMGS: 1/, 'references go on');
  t.match((await request(`${url}/sms?since=${(heard as { id: number }[])[0]?.id}`)).body, [
    { message_reference: 1 },
  ]);
  t.equal(await end(child, 'SIGTERM'), 0);
});

t.test('links left by kill -9 lead to no port of another rack', async (t) => {
  const first = await startMain(t, temporaryFolder(t));
  t.doesNotThrow(() => accessSync(first.port));
  await end(first.child, 'SIGKILL');
  // It gets the terminals that have become free.
  const second = await startMain(t, temporaryFolder(t));
  t.throws(() => accessSync(first.port), { code: 'ENOENT' });
  t.equal(await end(second.child, 'SIGTERM'), 0);
});

t.test('kill -9 in a storm of messages: every accepted one is there exactly once', async (t) => {
  const dir = temporaryFolder(t);
  const { child, url, ready } = await startMain(t, dir);
  const accepted: number[] = [];
  const to = ready.modems[1]?.number;
  const storm = async (worker: number): Promise<void> => {
    for (let count = 0; ; count++) {
      const number = worker * 1000 + count;
      const { status } = await post(`${url}/sms`, { from: '12345', to, body: `number ${number}` });
      if (status === 202) accepted.push(number);
    }
  };
  const workers = [1, 2, 3, 4].map((worker) => storm(worker).catch(() => undefined));
  while (accepted.length < 200) await new Promise((resolve) => setTimeout(resolve, 1));
  await end(child, 'SIGKILL');
  await Promise.all(workers);

  const again = await startMain(t, dir);
  const terminal = await quietTerminal(t, again.ready.modems[1]?.ports.at ?? '');
  await terminal.command('AT+CMGF=1');
  const found: number[] = [];
  while (found.length < accepted.length) {
    const text = await terminal.command('AT+CMGL="ALL"');
    const numbers = [...text.matchAll(/number (\d+)\r\n/g)].map((match) => Number(match[1]));
    if (numbers.length === 0) break;
    found.push(...numbers);
    await terminal.command('AT+CMGD=1,4');
  }
  t.equal(new Set(found).size, found.length, 'nothing twice');
  t.same(
    accepted.filter((number) => !found.includes(number)),
    [],
    'nothing lost',
  );
  await end(again.child, 'SIGTERM');
});
