// The notifications that the service manager gets from the real daemon, on a real datagram socket.
import { once } from 'node:events';
import t from 'tap';
import { startDaemonOnRack } from '../../fixtures/nodes/daemon-on-rack.ts';
import { startNotifyListener } from '../../fixtures/packages/notify-listener.ts';
import { until } from '../../fixtures/until.ts';
import { post } from '../../hardware-sim/fixtures/http.ts';

t.test('the daemon notifies that it is ready, its status, that it is alive, and that it stops', async (t) => {
  const { path, reported } = await startNotifyListener(t);
  const { daemon, simulator } = await startDaemonOnRack(t, {
    rack: { modems: 2 },
    env: { NOTIFY_SOCKET: path, WATCHDOG_USEC: '400000' },
  });
  await until('the status', () => reported.includes('STATUS=2 of 2 slots registered, linked'), 20_000);
  t.equal(reported.filter((each) => each !== 'BARRIER=1')[0], 'READY=1');
  await until('the watchdog is fed', () => reported.filter((each) => each === 'WATCHDOG=1').length >= 3);
  await post(`${simulator.url}/modems/${simulator.modems[0]?.identity.imei}/faults`, { kind: 'unplug' });
  await until('the new status', () => reported.includes('STATUS=1 of 2 slots registered, linked'), 20_000);
  const exited = once(daemon(), 'exit');
  daemon().kill('SIGTERM');
  t.same(await exited, [0, null]);
  // Their reader is a process of its own.
  for (const last of ['STOPPING=1', 'EXTEND_TIMEOUT_USEC=30000000'])
    await until(last, () => reported.includes(last));
});

t.test('another process’ watchdog is not fed', async (t) => {
  const { path, reported } = await startNotifyListener(t);
  await startDaemonOnRack(t, {
    rack: { modems: 1 },
    env: { NOTIFY_SOCKET: path, WATCHDOG_USEC: '100000', WATCHDOG_PID: '1' },
  });
  await until('the status', () => reported.includes('STATUS=1 of 1 slot registered, linked'), 20_000);
  t.notOk(reported.includes('WATCHDOG=1'));
});
