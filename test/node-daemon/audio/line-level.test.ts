// The frames that a modem still has to play, and when it has too many.
import t from 'tap';
import { LineLevel } from '#node-daemon/audio/line-level.ts';

/** A modem that plays one frame every 20 ms, and a host that answers after `lateMs`: how much it holds, and its gaps. */
function line({ frames, bursts = 1, stallAt }: { frames: number; bursts?: number; stallAt?: number }) {
  const level = new LineLevel();
  let [held, silences, unread, stalled] = [0, 0, 0, 0];
  for (let frame = 1; frame <= frames; frame += 1) {
    if (held > 0) held -= 1;
    else silences += 1;
    unread += 1;
    if (frame === stallAt) stalled = 5;
    if (stalled > 0) {
      stalled -= 1;
      continue;
    }
    if (unread < bursts) continue;
    const answers = level.gave(unread, frame * 20);
    unread = 0;
    for (let answer = 0; answer < answers; answer += 1) {
      if (!level.takes()) continue;
      level.given(frame * 20);
      held += 1;
    }
  }
  return { held, silences };
}

t.test('one for each: it holds one, and never runs dry', async (t) => {
  t.same(line({ frames: 500 }), { held: 1, silences: 1 });
});

t.test('a host that paused once does not leave it late for the rest of the call', async (t) => {
  for (const frames of [406, 1_000]) {
    const { held, silences } = line({ frames, stallAt: 400 });
    t.equal(held, 1, `after ${frames - 400} frames`);
    t.equal(silences, 1 + 5 - 1 + 1, 'the silences of the pause, and no more');
  }
});

t.test('a modem that gives three at once keeps what it needs', async (t) => {
  const { held, silences } = line({ frames: 999, bursts: 3 });
  t.equal(held, 3);
  t.equal(silences, 5, 'before it was seen');
});

t.test('frames that come close together: the answer to the first is not there for the second', async (t) => {
  const level = new LineLevel();
  let held = 0;
  let silences = 0;
  const tick = (atMs: number): void => {
    if (held > 0) held -= 1;
    else silences += 1;
    level.gave(1, atMs);
    if (!level.takes()) return;
    level.given(atMs + 1);
    held += 1;
  };
  // A modem that was held up makes up for it: its next frame comes when the answer is still on its way.
  for (let frame = 0; frame < 200; frame += 1) tick(frame * 20);
  held -= 1;
  level.gave(1, 4_000);
  silences += 1;
  level.given(4_001);
  level.gave(1, 4_001);
  level.given(4_002);
  held += 2;
  for (let frame = 202; frame < 400; frame += 1) tick(frame * 20);
  t.equal(held, 1);
  t.equal(silences, 2, 'before the first, and that one');
});
