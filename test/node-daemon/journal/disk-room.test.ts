// The alarm of a disk that is nearly full: it begins before the disk refuses writes, and does not come and go at the limit.
import t from 'tap';
import {
  DiskRoom,
  FREE_BYTES_GOOD,
  FREE_FILES_GOOD,
  type Room,
  readRoom,
} from '#node-daemon/journal/disk-room.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { until } from '../../fixtures/until.ts';

const MINUTE_MS = 60_000;

t.test('little room raises the alarm once, and an eighth more ends it', async (t) => {
  const clock = new ManualClock();
  const plenty: Room = { freeBytes: 2 * FREE_BYTES_GOOD, freeFiles: 2 * FREE_FILES_GOOD };
  const changes: boolean[] = [];
  let room: Room = plenty;
  let readings = 0;
  const watched = new DiskRoom({
    clock,
    async read() {
      readings += 1;
      return room;
    },
    onChange: () => changes.push(watched.isScarce),
  });
  t.teardown(() => watched.stop());
  const becomes = async (next: Room): Promise<boolean[]> => {
    room = next;
    const before = readings;
    clock.advance(MINUTE_MS);
    await until('it is read', () => readings > before);
    await new Promise((resolve) => setImmediate(resolve));
    return changes.splice(0);
  };

  await watched.start();
  t.same(changes, [], 'there is room');
  t.same(await becomes({ ...plenty, freeBytes: FREE_BYTES_GOOD - 1 }), [true]);
  t.same(await becomes({ ...plenty, freeBytes: FREE_BYTES_GOOD + 1 }), [], 'at the limit it stays');
  t.same(await becomes(plenty), [false]);
  t.same(await becomes({ ...plenty, freeFiles: FREE_FILES_GOOD - 1 }), [true], 'inodes count, too');
  t.same(
    await becomes({ freeBytes: undefined, freeFiles: undefined }),
    [false],
    'an unknown room raises nothing',
  );
  watched.stop();
  const before = readings;
  clock.advance(MINUTE_MS);
  t.equal(readings, before, 'it stops');
});

t.test('a folder has room, and one that is missing is not known', async (t) => {
  t.ok(Number((await readRoom('/')).freeBytes) > 0);
  t.same(await readRoom('/nonexistent'), { freeBytes: undefined, freeFiles: undefined });
});
