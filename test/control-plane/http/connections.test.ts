// A connection without traffic: it is kept while its response is being made, and not while a response waits to be read.
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import t from 'tap';
import { Connections } from '#control-plane/http/connections.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';

class StubConnection extends EventEmitter {
  destroyed = false;
  writableLength = 0;
  timeoutMs: number | undefined;

  setTimeout(ms: number): void {
    this.timeoutMs = ms;
  }

  destroy(): void {
    this.destroyed = true;
  }
}

t.test('a connection that was silent', async (t) => {
  const connections = new Connections({ clock: new ManualClock(), log: silentLogger }, () => undefined);
  const socket = new StubConnection();
  const given = socket as unknown as Socket;
  const response = new EventEmitter() as unknown as ServerResponse;
  t.ok(connections.open({ socket } as unknown as IncomingMessage, response));
  connections.idle(given, 300);
  t.match(socket, { destroyed: false, timeoutMs: 300 }, 'its response is being made');
  socket.writableLength = 1;
  connections.idle(given, 300);
  t.ok(socket.destroyed, 'its client does not read');
});
