// The operators' socket between a program and its commands, when one of the two fails.
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { findRunningService } from '#control-plane/operator/operator-socket.ts';
import { DEFAULT_CONFIG } from '#node-daemon/config/node-config.ts';
import type { DaemonSettings } from '#node-daemon/config/options.ts';
import { daemonBack, findDaemon } from '#node-daemon/operator/open-operator.ts';
import { silentLogger } from '#shared/log.ts';
import { isAway, OtherProgramError, SocketClient } from '#shared/operator/operator-client.ts';
import { OperatorError } from '#shared/operator/operator-error.ts';
import {
  listenOperators,
  type OperatorStream,
  PROGRAM_HEADER,
  VERSION_HEADER,
} from '#shared/operator/operator-server.ts';
import type { Procedures } from '#shared/operator/procedure.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

/** A procedure for each outcome, by its name. */
const OUTCOMES: Record<string, () => Promise<unknown>> = {
  works: async () => ({ answer: 42 }),
  refuses: () => Promise.reject(new OperatorError('refused', 'not today')),
  fails: () => Promise.reject(new TypeError('a fault of ours')),
  hangs: () => new Promise(() => undefined),
};

const breaksOff: OperatorStream = async (out) => {
  out.write('half of it');
  throw new Error('the disk is gone');
};

function placeIn(t: Test): string {
  return join(temporaryFolder(t), 'run', 'operator.sock');
}

/** The headers of a daemon whose API has this version. */
const headed = (version: string) => ({ [PROGRAM_HEADER]: 'node-daemon', [VERSION_HEADER]: version });

function clientOf(socketPath: string): SocketClient<Procedures> {
  return new SocketClient({
    socketPath,
    program: 'node-daemon',
    timeoutMs: 500,
    howToOpen: 'join the group',
  });
}

async function listen(t: Test, mode?: number): Promise<string> {
  const path = placeIn(t);
  const { stop } = await listenOperators({
    program: 'node-daemon',
    path,
    ...(mode === undefined ? {} : { mode }),
    log: silentLogger,
    call: async (name) => OUTCOMES[name]?.(),
    streams: { breaksOff },
  });
  t.teardown(stop);
  return path;
}

/** Another program at the place of the socket. */
async function foreign(t: Test, answer: RequestListener): Promise<string> {
  const path = join(temporaryFolder(t), 'operator.sock');
  const server = createServer(answer).listen(path);
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return path;
}

t.test('each outcome has its reason', async (t) => {
  const client = clientOf(await listen(t));
  t.same(await client.call('works', {}), { answer: 42 });
  const rows = [
    ['refuses', 'refused', false],
    // A part may be done: it is not repeated by itself.
    ['fails', 'unanswered', false],
    ['hangs', 'unanswered', true],
  ] as const;
  for (const [name, reason, away] of rows) {
    const error = await client.call(name, {}).catch((thrown: unknown) => thrown);
    t.match(error, { reason }, name);
    t.equal(isAway(error), away, name);
  }
  await t.rejects(client.call('fails', {}), { message: /see its log/, exitCode: 3 });
});

t.test('a stream that breaks off is not taken for a whole one', async (t) => {
  const client = clientOf(await listen(t));
  await t.rejects(buffer(client.download('breaksOff')), { name: 'OperatorError', reason: 'unanswered' });
  await t.rejects(buffer(client.download('unknown')), { reason: 'refused', message: /no stream "unknown"/ });
});

t.test('no program, another program, and one that is cut off', async (t) => {
  const absent = clientOf(placeIn(t));
  t.equal(await absent.isThere('works', 500), false);
  await t.rejects(absent.call('works', {}), { name: 'OperatorError', reason: 'unreachable' });
  const other = clientOf(await foreign(t, (_request, response) => response.end('hello')));
  await t.rejects(other.isThere('works', 500), { reason: 'unreachable', message: /another program/ });
  const cut = clientOf(
    await foreign(t, (_request, response) => {
      response.writeHead(200, headed('1')).write('{"answer":');
      setImmediate(() => response.destroy());
    }),
  );
  for (const asked of [cut.call('works', {}), cut.isThere('works', 500)]) {
    const error = await asked.catch((thrown: unknown) => thrown);
    t.match(error, { name: 'OperatorError', reason: 'unanswered' });
    t.ok(isAway(error));
  }
});

t.test('a command that was given the data folder of the other program says whose it is', async (t) => {
  const socketOf = async (program: 'control-plane' | 'node-daemon'): Promise<string> => {
    const path = join(temporaryFolder(t), 'operator.sock');
    // The name of the procedure is unknown to the other program: that alone would be the message.
    const call = () => Promise.reject(new OperatorError('refused', 'Invalid input'));
    const { stop } = await listenOperators({ program, path, log: silentLogger, call, streams: {} });
    t.teardown(stop);
    return path;
  };
  const path = await socketOf('control-plane');
  const settings = { config: { ...DEFAULT_CONFIG, operatorSocket: path } } as DaemonSettings;
  const refused = await findDaemon(settings).catch((error: unknown) => error);
  t.ok(refused instanceof OtherProgramError);
  t.match(refused, {
    exitCode: 4,
    message: `${path} belongs to the control plane, not to the daemon. Name the data folder of the daemon with`,
  });
  await t.rejects(findRunningService(dirname(await socketOf('node-daemon'))), {
    message: /belongs to the daemon, not to the control plane\. Name the data folder of the control plane/,
  });
});

t.test('a group that may use the socket may enter the folder that is made for it', async (t) => {
  const modeOf = async (mode?: number): Promise<number> =>
    statSync(dirname(await listen(t, mode))).mode & 0o777;
  t.equal(await modeOf(), 0o700);
  t.equal(await modeOf(0o660), 0o750);
});

t.test('a daemon that comes back as another version ends the wait for it', { timeout: 10_000 }, async (t) => {
  const operatorSocket = await foreign(t, (_request, response) => {
    response
      .writeHead(503, headed('2'))
      .end(JSON.stringify({ error: 'unreachable', message: 'the running program is another version' }));
  });
  const settings = { config: { ...DEFAULT_CONFIG, operatorSocket } } as DaemonSettings;
  await t.rejects(daemonBack(settings, new AbortController().signal), {
    reason: 'unreachable',
    message: /another version/,
  });
});
