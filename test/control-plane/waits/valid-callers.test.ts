// A long request and the token of its caller: an answer is kept unless the token is known to be invalid.
import t from 'tap';
import type { Bus } from '#control-plane/bus/bus.ts';
import { Refusal } from '#control-plane/domain/refusal.ts';
import { ValidCallers } from '#control-plane/waits/valid-callers.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';

const SUBSCRIPTION = {
  id: 'sub_1',
  wallet: '0x01',
  number: '+12065550001',
  accountChainId: undefined,
  expiresAt: new Date(0),
};

const callers = (): ValidCallers =>
  new ValidCallers({
    bus: { subscribe: () => () => undefined } as Pick<Bus, 'subscribe'> as Bus,
    clock: new ManualClock(),
  });

const dialed = (check: () => Promise<unknown>): Promise<string> =>
  callers().during({ subscription: SUBSCRIPTION, check }, new AbortController().signal, async () => 'dialed');

t.test('a database that fails after a dial does not lose its answer', async (t) => {
  t.equal(await dialed(() => Promise.reject(new Error('connection terminated'))), 'dialed');
});

t.test('a token that was revoked meanwhile learns nothing', async (t) => {
  await t.rejects(
    dialed(() => Promise.reject(new Refusal('unauthorized', 'the token was revoked'))),
    { code: 'unauthorized' },
  );
});
