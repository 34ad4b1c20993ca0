// A sold SIM that is registered but gets no texts, on simulated modems: found by two lost probes, and well again with the next text.
import t from 'tap';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { readExposition } from '../../fixtures/service/exposition.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { modemStack } from '../../fixtures/stacks/modem-stack.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

t.test(
  'a SIM that is registered but deaf is an alert, before its holder finds it',
  { timeout: 240_000 },
  async (t) => {
    // A check every ten seconds, and one round of spare SIMs in this test.
    const checks = { probeMinutes: 10_080, probeTimeoutMs: 3_000, probeSoldHours: 24 };
    const service = { ...checks, metricsPort: 0, alertSlotDownMs: 0 };
    const { url, databaseUrl, db, operator, simulator, slotOf, ...stack } = await modemStack(t, rig, {
      modems: 3,
      service,
    });
    const sold = slotOf(0);
    const { headers, subscriptionId } = await subscribeInStore(databaseUrl, ALICE, sold.number);
    const probes = () =>
      db.selectFrom('probes').selectAll().where('to_subscriber', '=', true).orderBy('position').execute();
    /** The next probe, as if a day had passed. */
    const next = async () => {
      const known = (await probes()).length;
      const aDayAgo = new Date(Date.now() - 86_500_000);
      await db.updateTable('probes').set({ started_at: aDayAgo }).where('to_subscriber', '=', true).execute();
      return until(
        'a probe',
        async () => {
          const rows = await probes();
          return rows.length > known && rows.every(({ result }) => result !== null) ? rows.at(-1) : undefined;
        },
        60_000,
      );
    };
    const stateOf = async () => {
      const { rows } = await operator.call('subscriptions', { limit: 10 });
      return rows.map(({ service: state, reason }) => `${state} ${reason}`);
    };
    t.match(await next(), { result: 'delivered', to_number: sold.number });
    const deaf = simulator.modems[0];
    deaf?.play(parseFault({ kind: 'store_full' }));
    const first = await next();
    t.match(first, { result: 'failed', failed_end: 'either' });
    t.same(await stateOf(), ['registered null'], 'one loss is no proof');
    const second = await next();
    t.match(second, { result: 'failed' });
    t.not(second.from_slot, first.from_slot, 'another SIM sent it');
    await until('it is without service', async () => (await stateOf())[0] === 'unreached probes_lost');
    const alert = await until('the alert', async () =>
      (await operator.call('alerts', { state: 'open', limit: 10 })).rows.find(
        ({ kind }) => kind === 'number_down',
      ),
    );
    t.match(alert, {
      subject: subscriptionId,
      severity: 'critical',
      summary: /texts to it do not arrive \(two test texts were lost\)/,
    });
    const families = readExposition(
      await (await fetch(`http://127.0.0.1:${stack.service.metricsPort}/metrics`)).text(),
    );
    const count = (name: string, label: string, value: string) =>
      families.get(name)?.samples.find(({ labels }) => labels[label] === value)?.value;
    t.equal(count('simrack_sold_numbers', 'state', 'unreached'), 1);
    t.equal(
      count('simrack_sms_received_total', 'result', 'stored'),
      0,
      'no figure of customers has the probes',
    );
    t.same(families.get('simrack_sms_delivery_reports_total')?.samples ?? [], []);
    deaf?.faults.clear();
    await until(
      'the kept text arrives, and the number is well',
      async () => (await stateOf())[0] === 'registered null',
      60_000,
    );
    await until(
      'the alert is over',
      async () =>
        (await operator.call('alerts', { state: 'open', limit: 10 })).rows.every(
          ({ kind }) => kind !== 'number_down',
        ),
      60_000,
    );
    t.same(await (await fetch(`${url}/sms/receive`, { headers })).json(), { messages: [], count: 0 });
    t.match(await (await fetch(`${url}/sms/messages`, { headers })).json(), { messages: [] });
  },
);
