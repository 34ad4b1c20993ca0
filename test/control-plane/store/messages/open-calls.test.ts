// Calls that a node may have lost when it links again: not those that may still be on their way to it.
import t from 'tap';
import { type CallRow, findOpenCallsOfNode, putCall } from '#control-plane/store/messages/calls.ts';
import { openDatabases } from '../../../fixtures/database/postgres.ts';
import { openTestDatabase } from '../../../fixtures/database/test-database.ts';

const NOW = Date.UTC(2026, 0, 1);
const SECOND_MS = 1_000;

t.test('a call that was dialed a moment ago is not among them', async (t) => {
  const databases = await openDatabases(t);
  const db = await openTestDatabase(t, await databases.createMigrated());
  const put = (callId: string, state: CallRow['state'], secondsAgo: number): Promise<boolean> => {
    const startedAt = new Date(NOW - secondsAgo * SECOND_MS);
    return putCall(
      db,
      {
        callId,
        subscriptionId: null,
        number: null,
        iccid: '8901000000000000001',
        nodeId: 'rack-1',
        direction: 'outbound',
        peer: '+13105550188',
        state,
        startedAt,
        answeredAt: null,
        answeredBy: null,
      },
      startedAt,
    );
  };
  await put('dialed before', 'dialing', 11);
  await put('dialed just now', 'dialing', 9);
  await put('rings', 'ringing', 9);
  const open = await findOpenCallsOfNode(db, 'rack-1', new Date(NOW - 10 * SECOND_MS));
  t.same(open.sort(), ['dialed before', 'rings']);
});
