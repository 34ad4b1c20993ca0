// The watchdog is fed only while every worker goes on: a modem's supervisor, the journal's writer, the link.

import { once } from 'node:events';
import t from 'tap';
import type { Port } from '#node-daemon/at/port.ts';
import { DEFAULT_CARRIER_SETTINGS, NO_SIM_SETTINGS } from '#node-daemon/config/node-config.ts';
import { Journal } from '#node-daemon/journal/journal.ts';
import { openJournalDisk } from '#node-daemon/journal/journal-disk.ts';
import { Modem } from '#node-daemon/modem/modem.ts';
import { HostClaims } from '#node-daemon/modem/sim/claims.ts';
import { type DaemonStatus, ServiceManager } from '#node-daemon/service-manager/service-manager.ts';
import { daemonWorkers, type Worker } from '#node-daemon/service-manager/worker.ts';
import { silentLogger } from '#shared/log.ts';
import type { Assignments } from '#shared/process/notify-socket.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const BEAT_MS = 15_000;
const STATUS = { slots: [], link: 'linked' as const, callsUp: 0, isDraining: false };

async function watched(workers: () => readonly Worker[], clock = new ManualClock(0)) {
  const reported: Assignments[] = [];
  const manager = new ServiceManager({
    clock,
    log: silentLogger,
    pid: 7,
    environment: { NOTIFY_SOCKET: '/nowhere', WATCHDOG_USEC: '30000000', WATCHDOG_PID: '7' },
    notify: async (assignments) => void reported.push(assignments),
  });
  await manager.ready({ status: () => STATUS, workers });
  return {
    clock,
    /** How often the watchdog was fed in that many of its beats. */
    async feeds(beats: number): Promise<number> {
      const before = reported.length;
      for (let beat = 0; beat < beats; beat += 1) {
        clock.advance(BEAT_MS);
        await new Promise((resolve) => setImmediate(resolve));
      }
      return reported.slice(before).filter((each) => 'WATCHDOG' in each).length;
    },
  };
}

t.test(
  'one worker that stands still for its time is enough; it is fed again when that goes on',
  async (t) => {
    let steps: number | undefined = 0;
    const worker = { name: 'one', steps: () => steps, patienceMs: 60_000 };
    const other = { name: 'other', steps: () => undefined, patienceMs: 60_000 };
    const { feeds } = await watched(() => [worker, other]);
    t.equal(await feeds(4), 4, 'it stood still for three looks only');
    t.equal(await feeds(4), 0);
    steps = 1;
    t.equal(await feeds(4), 4);
    steps = undefined;
    t.equal(await feeds(100), 100, 'a loop that waits is not dead');
  },
);

t.test('the status of a node that waits for approval, and of a drain', async (t) => {
  const reported: Assignments[] = [];
  const notify = async (assignments: Assignments): Promise<void> => void reported.push(assignments);
  const environment = { NOTIFY_SOCKET: '/nowhere' };
  const clock = new ManualClock(0);
  const manager = new ServiceManager({ clock, log: silentLogger, pid: 7, environment, notify });
  let status: DaemonStatus = { ...STATUS, link: 'pending' };
  await manager.ready({ status: () => status, workers: () => [] });
  t.same(reported, [{ READY: 1, STATUS: '0 of 0 slots registered, waits for approval' }]);
  status = { ...STATUS, callsUp: 1, isDraining: true };
  clock.advance(5_000);
  t.same(reported.slice(1), [
    { STATUS: 'stopping after the last call, 0 of 0 slots registered, linked, 1 call up' },
  ]);
  await manager.stopped();
});

t.test('the manager has stopped only when the notification of its stop is sent', async (t) => {
  const events: string[] = [];
  const sent = new AbortController();
  const manager = new ServiceManager({
    clock: new ManualClock(0),
    log: silentLogger,
    pid: 7,
    environment: { NOTIFY_SOCKET: '/nowhere' },
    async notify(assignments) {
      if (!('STOPPING' in assignments)) return;
      await once(sent.signal, 'abort');
      events.push('sent');
    },
  });
  await manager.ready({ status: () => STATUS, workers: () => [] });
  manager.stopping();
  const stopped = manager.stopped().then(() => events.push('stopped'));
  await new Promise((resolve) => setImmediate(resolve));
  t.same(events, []);
  sent.abort();
  await stopped;
  t.same(events, ['sent', 'stopped']);
});

t.test('without a service manager nothing is sent, and no timer is left', async (t) => {
  const clock = new ManualClock(0);
  const notify = async (): Promise<void> => void t.fail('notified');
  const manager = new ServiceManager({ clock, log: silentLogger, pid: 7, environment: {}, notify });
  await manager.ready({ status: () => STATUS, workers: () => [] });
  manager.stopping();
  clock.advance(3_600_000);
  await manager.stopped();
});

t.test(
  'a supervisor that never comes back from opening its port is dead; one without a modem is not',
  async (t) => {
    const clock = new ManualClock(0);
    const journal = await Journal.open({ folder: temporaryFolder(t), clock, log: silentLogger });
    t.teardown(() => journal.close());
    const modem = (openPort: () => Promise<Port>) => {
      const made = new Modem({
        random: Math.random,
        slot: 'm0',
        place: { ports: ['/dev/ttyUSB0'] },
        journal,
        clock,
        log: silentLogger,
        openPort,
        sims: NO_SIM_SETTINGS,
        carriers: DEFAULT_CARRIER_SETTINGS,
        mayWriteSettings: false,
        hostClaims: new HostClaims(clock),
        outside: {},
        admits: () => true,
        limits: { radio: 0, restart: 0, usb_reset: 0, power_cycle: 0 },
        observer: { onChange() {}, onOpen() {}, onStep() {}, onCommandEnd() {}, onLoss() {} },
      });
      made.start();
      return made;
    };
    const link = { steps: undefined };
    const workersOf = (one: Modem) => () =>
      daemonWorkers({ rack: { progress: () => [{ name: 'm0', steps: one.steps }] }, journal, link });

    const stuck = await watched(workersOf(modem(() => new Promise(() => undefined))), clock);
    t.ok((await stuck.feeds(40)) < 40);
    t.equal(await stuck.feeds(4), 0);

    const absent = Object.assign(new Error('no such file'), { code: 'ENOENT' });
    const waiting = modem(() => Promise.reject(absent));
    const well = await watched(workersOf(waiting), clock);
    t.equal(await well.feeds(100), 100);
  },
);

t.test('a journal whose disk never answers is dead; one that has nothing to write is not', async (t) => {
  const clock = new ManualClock(0);
  let hangs = false;
  let isStuck = false;
  const journal = await Journal.open({
    folder: temporaryFolder(t),
    clock,
    log: silentLogger,
    openDisk: async (path) => {
      const disk = await openJournalDisk(path);
      const sync = disk.sync.bind(disk);
      const hang = (): Promise<never> => {
        isStuck = true;
        return new Promise(() => undefined);
      };
      return Object.assign(disk, { sync: () => (hangs ? hang() : sync()) });
    },
  });
  const workers = () => daemonWorkers({ rack: { progress: () => [] }, journal, link: { steps: undefined } });
  const { feeds } = await watched(workers, clock);
  await journal.append({ kind: 'withdrawn', commandId: 'c-1' }).catch(() => undefined);
  t.equal(await feeds(50), 50);
  hangs = true;
  void journal.append({ kind: 'withdrawn', commandId: 'c-1' }).catch(() => undefined);
  await until('the disk hangs', () => isStuck);
  t.ok((await feeds(14)) > 0);
  t.equal(await feeds(4), 0);
});
