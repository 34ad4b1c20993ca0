// Where a host lets its modems text and call, for every source of a request: the service over the link, or an operator by hand.
import t from 'tap';
import { runProgram } from '../../fixtures/run-program.ts';
import { ended, startToolRig } from './tool-rig.ts';

/** Caribbean countries, Canada, personal, carriers' and premium numbers. */
const REFUSED = [876, 809, 473, 284, 649, 767, 868, 264, 441, 613, 500, 521, 544, 700, 900]
  .map((code) => `+1${code}5550123`)
  .concat('+12069760123', '+17879765551');

t.test(
  'the daemon refuses destinations that are not allowed, to the service and to a tool',
  { timeout: 240_000 },
  async (t) => {
    const { env, plane, simulator, startDaemon, tool } = await startToolRig(t, { modems: 1, sendDelayMs: 0 });
    const [modem] = simulator.modems;
    const iccid = String(modem?.identity.iccid);
    const daemon = await startDaemon();
    modem?.clearCommandLines();
    const refusal = { type: 'refusal', code: 'destination_not_allowed' };
    for (const to of REFUSED) {
      t.match(await plane.command('send_sms', { iccid, to, body: 'x', segments_max: 1 }), refusal, to);
      t.match(await plane.command('dial', { call_id: `call_${to.slice(1)}`, iccid, to }), refusal, to);
    }
    t.match(await plane.command('send_sms', { iccid, to: '+12060550123', body: 'x', segments_max: 1 }), {
      type: 'refusal',
      code: 'params_invalid',
    });
    t.match(await tool('send', '1-1.1', '+18765550123', 'x'), {
      status: 1,
      stderr: /destination_not_allowed\): only these destinations are allowed: the US and its territories/,
    });
    t.notMatch((modem?.commandLines ?? []).join(' '), /CMGS|ATD/, 'the modem saw none of it');
    t.match(await tool('send', '1-1.1', '+17872345678', 'x'), { status: 0 });
    await ended(daemon, 'SIGTERM');

    t.match(await tool('send', '1-1.1', '+18765550123', 'x'), {
      status: 1,
      stderr: /destination_not_allowed/,
    });
    const more = { ...env, DESTINATIONS: 'US,+1876' };
    t.match(await runProgram('node-daemon', ['send', '1-1.1', '+18765550123', 'x'], more), { status: 0 });
    t.match(await runProgram('node-daemon', ['send', '1-1.1', '+19005550123', 'x'], more), {
      status: 1,
      stderr: /premium numbers cannot be reached/,
    });
  },
);

t.test('the configuration applies to daemon and tools; an invalid list stops both', async (t) => {
  const { env, tool } = await startToolRig(t, { modems: 1, sendDelayMs: 0 }, 'destinations: [PR, "+44"]');
  t.match(await tool('send', '1-1.1', '+442079460000', 'x'), { status: 0 });
  t.match(await tool('send', '1-1.1', '+12065550123', 'x'), {
    status: 1,
    stderr: /only these destinations .*: PR, \+44/,
  });
  for (const args of [[], ['list']])
    t.match(await runProgram('node-daemon', args, { ...env, DESTINATIONS: 'UK' }), {
      status: 1,
      stderr: 'error: DESTINATIONS: "UK" is no region: did you mean GB?',
    });
  const wrong = await startToolRig(t, { modems: 0 }, 'destinations: [US, EU]');
  t.match(await wrong.tool('list'), { status: 1, stderr: /:1:20: destinations\[1\]: "EU" is no region/ });
});
