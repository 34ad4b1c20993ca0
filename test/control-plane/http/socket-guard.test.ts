// How soon the sockets of a revoked token are closed when the event of the revocation is missed.
import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import type WebSocket from 'ws';
import type { Bus } from '#control-plane/bus/bus.ts';
import { LocalBus } from '#control-plane/bus/local-bus.ts';
import { Refusal } from '#control-plane/domain/refusal.ts';
import type { Subscription } from '#control-plane/domain/subscription.ts';
import { SocketGuard } from '#control-plane/http/upgrades/socket-guard.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';

/** Socket of a client that answers pings. */
class StubSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  closeCode: number | undefined;

  ping(): void {
    this.emit('pong');
  }

  close(code: number): void {
    this.closeCode = code;
    this.readyState = 3;
    this.emit('close');
  }

  asWebSocket(): WebSocket {
    return this as unknown as WebSocket;
  }
}

/** Guarded sockets of one token, a bus that can go away, and a clock that stands still. */
function guarded() {
  const clock = new ManualClock();
  const local = new LocalBus(clock);
  const state = { isRevoked: false, isConnected: true, checks: 0 };
  const bus = {
    get isConnected() {
      return state.isConnected;
    },
    subscribe: (listener: Parameters<Bus['subscribe']>[0]) => local.subscribe(listener),
  } as Bus;
  const subscription = { id: 'sub_1', expiresAt: new Date(clock.now() + 365 * 86_400_000) } as Subscription;
  const authenticate = async () => {
    state.checks += 1;
    if (state.isRevoked) throw new Refusal('unauthorized', 'revoked');
    return subscription;
  };
  const addressOf = () => '127.0.0.1';
  const guard = new SocketGuard({
    authenticate,
    addressOf,
    bus,
    clock,
    random: () => 0.5,
    log: silentLogger,
    socketsPerToken: 9,
  });
  return {
    clock,
    guard,
    state,
    open() {
      const socket = new StubSocket();
      guard.keep(socket.asWebSocket(), 'Bearer x', subscription);
      return socket;
    },
    async pass(ms: number) {
      clock.advance(ms);
      await turn();
    },
    connect(isConnected: boolean) {
      state.isConnected = isConnected;
      local.publish({ kind: 'bus_changed', isConnected });
    },
  };
}

t.test('a token revoked while its first socket opens: all its sockets close', async (t) => {
  const { state, open, pass } = guarded();
  const sockets = [open()];
  state.isRevoked = true;
  for (let opened = 0; opened < 3; opened += 1) {
    await pass(600);
    sockets.push(open());
  }
  await pass(200);
  t.same(
    sockets.map(({ closeCode }) => closeCode),
    [4401, 4401, 4401, 4401],
  );
});

t.test('with the bus: sockets of a revoked token close within a minute, by one query a minute', async (t) => {
  const { state, open, pass } = guarded();
  const socket = open();
  await pass(2_000);
  for (let minute = 0; minute < 5; minute += 1) await pass(60_000);
  t.equal(state.checks, 6);
  state.isRevoked = true;
  await pass(59_999);
  t.equal(socket.closeCode, undefined);
  await pass(1);
  t.equal(socket.closeCode, 4401);
});

t.test('without the bus: sockets of a revoked token close within two seconds, at any time', async (t) => {
  for (const awayMs of [0, 2_000, 20_000]) {
    const { state, open, pass, connect } = guarded();
    const socket = open();
    await pass(2_000);
    connect(false);
    for (let ms = 0; ms < awayMs; ms += 2_000) await pass(2_000);
    t.equal(socket.closeCode, undefined);
    state.isRevoked = true;
    await pass(2_000);
    t.equal(socket.closeCode, 4401, `after ${awayMs} ms`);
  }
});

t.test('sockets of a revoked token close two seconds after the bus is back', async (t) => {
  const { state, open, pass, connect } = guarded();
  const socket = open();
  await pass(2_000);
  connect(true);
  state.isRevoked = true;
  await pass(2_000);
  t.equal(socket.closeCode, 4401);
});

t.test('a subscription that opens sockets again and again waits', async (t) => {
  const { clock, guard } = guarded();
  const request = { headers: { authorization: 'Bearer x' } } as IncomingMessage;
  const admitted = async (attempts: number): Promise<number> => {
    let count = 0;
    for (let attempt = 0; attempt < attempts; attempt += 1)
      await guard.admit(request).then(
        () => {
          count += 1;
        },
        (error: unknown) => t.match(error, { code: 'rate_limited', headers: { 'Retry-After': '5' } }),
      );
    return count;
  };
  t.equal(await admitted(60), 5 * 9);
  clock.advance(1_000);
  t.equal(await admitted(60), 5);
});
