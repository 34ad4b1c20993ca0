// A call that ends while its instance asks the others for it: no tool opens its stream any more.
import t from 'tap';
import { NoResponder } from '#control-plane/bus/bus.ts';
import { SpokenCalls } from '#control-plane/speech/spoken-calls.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';

type Parts = ConstructorParameters<typeof SpokenCalls>[0];

t.test('a tool gets call_not_found, and nothing is served for the call', async (t) => {
  const session = { call: { callId: 'call_1', subscriptionId: 'sub_1' }, hasStream: false };
  let isUp = true;
  const served: string[] = [];
  const spoken = new SpokenCalls({
    clock: new ManualClock(),
    log: silentLogger,
    live: { open: async () => session, find: () => (isUp ? session : undefined) },
    places: { find: async () => 'nowhere' },
    bus: {
      async request(name: string) {
        isUp = false;
        throw new NoResponder(`no instance serves ${name}`);
      },
      serve: (name: string) => served.push(name),
    },
  } as unknown as Parts);
  const asked = { callId: 'call_1', subscriptionId: 'sub_1', signal: new AbortController().signal };
  await t.rejects(spoken.listen(asked, 1_000), { code: 'call_not_found' });
  t.same(served, []);
});
