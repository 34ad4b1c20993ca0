// Answers of procedures: only what their schemas declare leaves the program.
import { join } from 'node:path';
import t from 'tap';
import * as z from 'zod';
import { bigintOutput, timeOutput } from '#shared/json-codec.ts';
import { silentLogger } from '#shared/log.ts';
import { SocketClient } from '#shared/operator/operator-client.ts';
import { listenOperators } from '#shared/operator/operator-server.ts';
import { type Caller, checkedAnswer } from '#shared/operator/procedure.ts';
import { personName } from '#shared/process/person-name.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const CARD = { name: 'm3', since: new Date(0), cents: 12n };
const PROCEDURES = {
  card: {
    input: z.object({}),
    output: z.object({ name: z.string(), since: timeOutput, cents: bigintOutput }),
    run: async () => CARD,
  },
};

t.test('an answer has the fields of its schema, as JSON', (t) => {
  t.same(checkedAnswer(PROCEDURES, 'card', { ...CARD, pin: '4711' }), {
    name: 'm3',
    since: '1970-01-01T00:00:00.000Z',
    cents: '12',
  });
  t.end();
});

t.test(
  'a wrong answer is an error in the log with the name of the procedure, and shows no value',
  async (t) => {
    const path = join(temporaryFolder(t), 'operator.sock');
    const logged: string[] = [];
    const callers: Caller[] = [];
    const { stop } = await listenOperators({
      program: 'node-daemon',
      path,
      log: { ...silentLogger, error: (fields) => logged.push(String((fields as { err: unknown }).err)) },
      async call(_, __, caller) {
        callers.push(caller);
        return checkedAnswer(PROCEDURES, 'card', { ...CARD, since: '4711' });
      },
      streams: {},
    });
    t.teardown(stop);
    const client = new SocketClient<typeof PROCEDURES>({
      socketPath: path,
      program: 'node-daemon',
      timeoutMs: 5_000,
    });
    const error = await client.call('card', {}).catch((thrown: unknown) => thrown);
    t.match(error, { reason: 'unanswered', message: /see its log/ });
    t.match(logged, [/the procedure "card" answered wrongly: since: /]);
    t.notMatch([...logged, String(error)].join(), '4711');
    t.match(callers, [{ name: personName() }]);
  },
);
