// A peer that sends more than it has reason to, while its socket is open and while it is closing.
import { EventEmitter } from 'node:events';
import t from 'tap';
import type WebSocket from 'ws';
import { limitClosing, limitFrames } from '#control-plane/http/upgrades/frame-limit.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';

class StubSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  closeCode: number | undefined;
  isTerminated = false;

  close(code: number): void {
    this.closeCode = code;
    this.readyState = 2;
  }

  terminate(): void {
    this.isTerminated = true;
  }

  receive(kind: string, count: number): this {
    for (let frame = 0; frame < count; frame += 1) this.emit(kind);
    return this;
  }

  asWebSocket(): WebSocket {
    return this as unknown as WebSocket;
  }
}

t.test('a socket gets a burst of frames, and some a second after that', async (t) => {
  const clock = new ManualClock();
  const socket = new StubSocket();
  limitFrames(socket.asWebSocket(), clock, ['ping', 'pong']);
  t.match(socket.receive('message', 1_000).receive('ping', 50).receive('pong', 50), { isTerminated: false });
  clock.advance(1_000);
  t.match(socket.receive('pong', 10), { isTerminated: false });
  t.match(socket.receive('pong', 1), { isTerminated: true, closeCode: 1008 });
});

t.test('a peer that floods a socket that is closing', async (t) => {
  const clock = new ManualClock();
  const [listener, stream] = [new StubSocket(), new StubSocket()];
  limitFrames(listener.asWebSocket(), clock, ['message']);
  limitClosing(stream.asWebSocket());
  t.match(
    stream.receive('message', 10_000),
    { isTerminated: false },
    'its messages have a limit of their own',
  );
  for (const socket of [listener, stream]) socket.close(1000);
  t.match(listener.receive('message', 101), { isTerminated: true, closeCode: 1000 });
  t.match(stream.receive('message', 3_000), { isTerminated: false });
  t.match(stream.receive('message', 1), { isTerminated: true });
});
