// Time and chance are passed in, so that all programs can run together on a virtual clock. Only these places take the system's.
import t from 'tap';
import { readSources } from './sources.ts';

/** Methods of sockets and servers, such as `socket.setTimeout`, are Node's own. */
const EDGES =
  /(?<![\w.#])(setTimeout|setInterval)\(|\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bhrtime\b|\bMath\.random\b|\brandomInt\b|\bAbortSignal\.timeout\(|'(node:)?timers(\/promises)?'|\b(systemClock|systemRandom)\b/;

/** Files, and folders with a slash at the end, each with the reason. */
const ALLOWED: ReadonlyArray<[path: string, reason: string]> = [
  ['shared/clock.ts', 'is the clock of the system'],
  ['shared/random.ts', 'is the chance of the system'],
  ['shared/process/', 'is the process'],
  ['hardware-sim/audio/frame-clock.ts', 'is the clock of audio'],
  ['control-plane/service/service.ts', 'composes the service'],
  ['node-daemon/main.ts', 'composes the daemon'],
  ['node-daemon/host/host.ts', 'composes the host'],
  ['hardware-sim/simulator.ts', 'composes the simulator'],
  ['control-plane/client/', 'runs in the programs of customers'],
  ['control-plane/check/', 'is a command, which ends'],
  ['control-plane/bus/nats-examination.ts', 'is of that command'],
  ['control-plane/operator/cli/', 'are commands, which end'],
  ['control-plane/operator/backups.ts', 'is of these commands'],
  ['control-plane/operator/operator-socket.ts', 'waits in these commands for the database'],
  ['control-plane/operator/operator-store.ts', 'composes the operator API in these commands'],
  ['node-daemon/doctor/', 'is a command, which ends'],
  ['node-daemon/operator/cli/', 'are commands, which end'],
  ['node-daemon/operator/open-operator.ts', 'waits in these commands for the daemon'],
  ['node-daemon/link/enroll.ts', 'is a command, which ends'],
  ['node-daemon/daemon/simulate-command.ts', 'is a command, which waits for a child process'],
  ['control-plane/signatures/signer-pool.ts', 'waits for threads, whose work takes real time'],
  ['control-plane/payments/chain/block-watch.ts', 'waits for a chain, whose blocks take real time'],
  ['control-plane/payments/chain/rpc.ts', 'waits for the RPC of a chain, as viem does'],
  ['control-plane/payments/chain/chain.ts', 'has it as the default of commands'],
];

const PRODUCTS = /^(control-plane|node-daemon|hardware-sim|shared)\//;
const used = readSources().filter(({ path, text }) => PRODUCTS.test(path) && EDGES.test(text));

t.test('time and chance of the system are used only where the list says so', async (t) => {
  const isAllowed = (path: string): boolean =>
    ALLOWED.some(([allowed]) => (allowed.endsWith('/') ? path.startsWith(allowed) : path === allowed));
  const hidden = used.map(({ path }) => path).filter((path) => !isAllowed(path));
  t.same(hidden, [], 'others get a `Clock` and a `Random`');
});

t.test('the list has no place that does not need it', async (t) => {
  const idle = ALLOWED.filter(([allowed]) => !used.some(({ path }) => path.startsWith(allowed)));
  t.same(idle, []);
});
