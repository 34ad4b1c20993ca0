// The other side of the relay bench: a WebSocket server that passes every message to the other end of its pair.
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

const waiting = new Map<string, WebSocket>();
const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false }, () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
});
server.on('connection', (socket, request) => {
  const pair = String(request.url);
  const other = waiting.get(pair);
  if (other === undefined) {
    waiting.set(pair, socket);
    return;
  }
  waiting.delete(pair);
  socket.on('message', (data: Buffer) => other.send(data));
  other.on('message', (data: Buffer) => socket.send(data));
});
