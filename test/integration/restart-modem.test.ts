// A modem that an operator has restarted: not during a call unless by force; it leaves the network and comes back.
import t from 'tap';
import { startDaemonOnUsb } from '../fixtures/nodes/daemon-on-usb.ts';
import { until } from '../fixtures/until.ts';
import { putFarEnd } from '../hardware-sim/fixtures/call-terminal.ts';

const FAR = '+13105550188';

t.test('a restart on request', { timeout: 180_000 }, async (t) => {
  const host = await startDaemonOnUsb(t, { modems: 1, makes: ['quectel'] });
  const { plane, simulator } = host;
  const modem = host.modem(0);
  const { iccid } = await host.serves('1-1.1', modem);
  const restart = (params: object) =>
    plane.command('restart_modem', { slot: '1-1.1', force: false, ...params });
  const starts = (): number => plane.framesOf('event').filter(({ event }) => isRestart(event)).length;
  const isRestart = ({ kind, detail }: { kind: string; detail: string }): boolean =>
    kind === 'recovery_step' && detail === 'restart: requested';

  t.match(await restart({ slot: 'm9' }), { type: 'refusal', code: 'slot_unavailable', message: /m9/ });
  t.match(await restart({ force: 'perhaps' }), { type: 'refusal', code: 'params_invalid' });

  await putFarEnd(simulator.url, FAR, { audio: 'tone' });
  await plane.command('dial', { call_id: 'call-00000001', iccid, to: FAR });
  t.match(await restart({}), { type: 'refusal', code: 'line_busy' });
  t.equal(starts(), 0, 'and nothing was done');

  t.match(await restart({ force: true }), { type: 'result', result: {} });
  await until('the step', () => starts() === 1);
  await until('the call has ended', () => plane.factsOf('call_ended').length === 1, 30_000);
  await until('it is away', () => host.slots().get('1-1.1')?.state !== 'registered');
  await host.serves('1-1.1', modem, 60_000);
  t.match(await restart({}), { type: 'result' }, 'again');
  await until('the step', () => starts() === 2);
  await host.serves('1-1.1', modem, 60_000);
});
