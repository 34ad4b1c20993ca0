// A client of a stream that reads slowly misses audio, and one that does not read at all is disconnected.
import t from 'tap';
import type { WebSocket } from 'ws';
import { UnblockedSender } from '#control-plane/voice/stream-client.ts';
import { FRAME_BYTES, FRAME_MS } from '#shared/voice/media.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';

const TWO_SECONDS = (2_000 / FRAME_MS) * FRAME_BYTES;

/** A socket whose peer reads when the test says so. */
function unread() {
  const seen = { bytes: 0, isOpen: true };
  const socket = {
    OPEN: 1,
    readyState: 1,
    get bufferedAmount() {
      return seen.bytes;
    },
    send: (data: Uint8Array) => (seen.bytes += data.length),
    terminate: () => (seen.isOpen = false),
  };
  return { seen, socket: socket as unknown as WebSocket };
}

t.test('two seconds wait for a slow client; more is dropped and counted, and it hears again', async (t) => {
  const clock = new ManualClock();
  const { seen, socket } = unread();
  const sender = new UnblockedSender(socket, clock);
  const frame = new Uint8Array(FRAME_BYTES);
  for (let sent = 0; sent < 150; sent += 1) sender.sendOrDrop(frame);
  t.ok(seen.bytes >= TWO_SECONDS && seen.bytes < TWO_SECONDS + 4 * FRAME_BYTES, `${seen.bytes} bytes wait`);
  t.equal(sender.dropped, 150 - seen.bytes / FRAME_BYTES);
  const { dropped } = sender;
  seen.bytes = 0;
  clock.advance(9_000);
  sender.sendOrDrop(frame);
  t.equal(sender.dropped, dropped);
  t.equal(seen.isOpen, true);
});

t.test('ten seconds without reading end it', async (t) => {
  const clock = new ManualClock();
  const { seen, socket } = unread();
  const sender = new UnblockedSender(socket, clock);
  const frame = new Uint8Array(FRAME_BYTES);
  for (let sent = 0; sent < 150; sent += 1) sender.sendOrDrop(frame);
  clock.advance(9_999);
  sender.sendOrDrop(frame);
  t.equal(seen.isOpen, true);
  clock.advance(1);
  sender.sendOrDrop(frame);
  t.equal(seen.isOpen, false);
});
