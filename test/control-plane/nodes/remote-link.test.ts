// Commands to a node at another instance: its answer is believed only as far as it goes. After a doubt the command counts as sent.
import t from 'tap';
import { LocalBus } from '#control-plane/bus/local-bus.ts';
import { type CommandLink, NodeUnavailable } from '#control-plane/nodes/node-link.ts';
import { remoteLink, serveRemote } from '#control-plane/nodes/remote-link.ts';
import { CommandRefusal } from '#shared/link/command-refusal.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';

const NODE = 'rack-1';
const SUBJECT = `node.${NODE}`;
const OPTIONS = { id: 'cmd_1', timeLeftMs: 4_000, timeoutMs: 9_000 };
const HANG_UP = { call_id: 'call_0123456789abcdef01234567', reason: 'local_hangup' } as const;

const hangUp = (bus: LocalBus) => remoteLink(bus, NODE).command('hang_up', HANG_UP, OPTIONS);
const newBus = () => new LocalBus(new ManualClock());

/** The instance with the link, whose link answers so. */
function linked(answer: CommandLink['command']) {
  const bus = newBus();
  serveRemote(bus, { nodeId: NODE, command: answer });
  return bus;
}

t.test('the command arrives as it was sent, and its result comes back', async (t) => {
  const asked: unknown[] = [];
  const bus = linked(async (...given) => {
    asked.push(given);
    return {} as never;
  });
  t.same(await hangUp(bus), {});
  t.same(asked, [['hang_up', HANG_UP, OPTIONS]]);
});

t.test('refusals and doubts of the link come back', async (t) => {
  for (const isSent of [true, false])
    await t.rejects(hangUp(linked(async () => Promise.reject(new NodeUnavailable('it left', isSent)))), {
      name: 'NodeUnavailable',
      message: 'it left',
      isSent,
    });
  const refused = new CommandRefusal('rate_limited', 'too many', { retryAfterMs: 1_500 });
  await t.rejects(hangUp(linked(async () => Promise.reject(refused))), {
    name: 'CommandRefusal',
    code: 'rate_limited',
    message: 'too many',
    retryAfterMs: 1_500,
  });
});

t.test('no instance has the link: certainly not sent', async (t) => {
  await t.rejects(hangUp(newBus()), { name: 'NodeUnavailable', isSent: false });
});

t.test('an answer that this version does not know: it may have been sent', async (t) => {
  const ANSWERS = [
    undefined,
    null,
    {},
    'sent',
    { refused: { code: 'of_a_newer_version', message: 'no' } },
    { unavailable: { message: 'away' } },
  ];
  for (const answer of ANSWERS) {
    const bus = newBus();
    bus.serve(SUBJECT, async () => answer);
    await t.rejects(hangUp(bus), { name: 'NodeUnavailable', isSent: true }, JSON.stringify(answer));
  }
});

t.test('the instance with the link fails: it may have been sent', async (t) => {
  const failing = linked(async () => Promise.reject(new Error('a mistake')));
  await t.rejects(hangUp(failing), { name: 'NodeUnavailable', isSent: true });
  const clock = new ManualClock();
  const silent = new LocalBus(clock);
  silent.serve(SUBJECT, () => new Promise(() => undefined));
  const asked = hangUp(silent);
  clock.advance(OPTIONS.timeoutMs);
  clock.advance(1_000);
  await t.rejects(asked, { name: 'NodeUnavailable', isSent: true });
});

t.test('a request that the instance with the link does not know: its link is not used', async (t) => {
  const request = { name: 'hang_up', params: HANG_UP, ...OPTIONS };
  const UNKNOWN = [
    null,
    { ...request, name: 'of_a_newer_version' },
    { ...request, params: { call_id: 7 } },
    { ...request, id: '' },
    { ...request, timeLeftMs: -1 },
    { ...request, timeoutMs: undefined },
  ];
  let uses = 0;
  const bus = linked(async () => {
    uses += 1;
    return {} as never;
  });
  for (const each of UNKNOWN)
    t.match(
      await bus.request(SUBJECT, each, { timeoutMs: 1_000 }),
      { unavailable: { isSent: false } },
      JSON.stringify(each),
    );
  t.equal(uses, 0);
});
