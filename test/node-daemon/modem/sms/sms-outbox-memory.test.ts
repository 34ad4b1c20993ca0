// An outbox that sends for months keeps nothing of the messages that are done.
import { queryObjects } from 'node:v8';
import t from 'tap';
import { PARAMS, setUpOutbox } from '../../../fixtures/nodes/scripted-outbox.ts';

const MESSAGES = 300;
/** Ids that come again, so that the journal does not grow either. */
const IDS = 20;

t.test('memory does not grow with the messages that were sent', async (t) => {
  const { modem, start } = await setUpOutbox(t);
  const { journal, outbox } = await start();
  const sendMany = async (): Promise<void> => {
    for (let number = 0; number < MESSAGES; number += 1) {
      const commandId = `c${number % IDS}`;
      await outbox.send({ commandId, params: PARAMS, deadlineAt: Number.POSITIVE_INFINITY });
      journal.acknowledge(journal.state.nextSequence - 1);
      modem.port.received.length = 0;
    }
  };
  await sendMany();
  const before = queryObjects(Array, { format: 'count' });
  await sendMany();
  const grown = queryObjects(Array, { format: 'count' }) - before;
  t.ok(grown < MESSAGES / 2, `${grown} arrays more after ${MESSAGES} messages`);
});
