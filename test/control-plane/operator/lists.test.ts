// Lists as an operator narrows, sorts and exports them on the command line; a fleet of two nodes with three carriers.
import t from 'tap';
import { ALICE } from '../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { ScriptedNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { runCommand } from '../../fixtures/run-command.ts';
import { DATA_DIR } from '../../fixtures/service/data-dir.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { openTestOperator } from '../../fixtures/service/test-operator.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

/** A slot without a card. */
const EMPTY = slotAt(9, { state: 'sim_absent', iccid: null, number: null });

t.test('filters, search, order, pages and CSV', { timeout: 180_000 }, async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  const operator = await openTestOperator(t, { databaseUrl, url });
  const lab = [
    slotAt(1, { operator: '310260' }),
    slotAt(2, { operator: '311480' }),
    slotAt(3, { operator: '310410' }),
    slotAt(4, { operator: '310260' }),
  ];
  const node = await ScriptedNode.connect(url, { nodeId: 'lab', slots: lab });
  const other = await ScriptedNode.connect(url, {
    nodeId: 'other',
    slots: [slotAt(5, { operator: '=cmd()' }), { ...EMPTY, slot: '1-1.2' }, { ...EMPTY, slot: '1-1.3' }],
  });
  t.teardown(() => Promise.all([node.drop(), other.drop()]));
  const numbersOf = async (input: Omit<Parameters<typeof operator.call<'numbers'>>[1], 'limit'>) =>
    (await operator.call('numbers', { limit: 10, ...input })).rows.map(({ number }) => number.slice(-1));
  await until('all are there', async () => (await numbersOf({})).length === 5);
  await subscribeInStore(databaseUrl, ALICE, '+12065550002');

  await t.test('numbers', async (t) => {
    t.same(await numbersOf({ carrier: 't-mobile' }), ['1', '4'], 'by the name of the carrier');
    t.same(await numbersOf({ carrier: '311480' }), ['2'], 'by its code');
    t.same(await numbersOf({ node: 'other' }), ['5']);
    t.same(await numbersOf({ state: 'held' }), ['2']);
    t.same(await numbersOf({ find: '(206) 555-0003' }), ['3'], 'as people write a number');
    t.same(await numbersOf({ find: ALICE.address.slice(4, 12).toUpperCase() }), ['2'], 'a part of a wallet');
    t.same(await numbersOf({ find: String(lab[3]?.iccid).slice(-6) }), ['4'], 'the end of an ICCID');
    t.same(await numbersOf({ find: '%_%_' }), [], 'no pattern');
    t.same(await numbersOf({ find: '+1 206' }), ['1', '2', '3', '4', '5'], 'the beginning of numbers');
    t.same(await numbersOf({ find: 'lab/m3' }), ['3'], 'a slot and its node');
    t.same(await numbersOf({ find: 'm5' }), ['5'], 'two characters');
    await t.rejects(numbersOf({ find: '5' }), /find: must have at least 2 characters/);
    const sort = { by: 'carrier', isDescending: true } as const;
    t.same(await numbersOf({ sort }), ['5', '2', '3', '4', '1'], 'among equals by number');
    const pages: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = await operator.call('numbers', { sort, limit: 2, after });
      pages.push(page.rows.map(({ number }) => number.slice(-1)).join(''));
      if (page.next === null) break;
      after = page.next;
    }
    t.same(pages, ['52', '34', '1'], 'pages of a sorted list');
    t.same(await numbersOf({ sort: { by: 'service', isDescending: true } }), ['2', '5', '4', '3', '1']);
  });

  await t.test('the service of sold numbers', async (t) => {
    const listed = async () => {
      const { stdout } = await runCommand(['number', 'list', '--full'], {
        DATABASE_URL: databaseUrl,
        DATA_DIR,
      });
      return /^\+12065550002 .*$/m.exec(stdout)?.[0];
    };
    const db = await openTestDatabase(t, databaseUrl);
    await until('served', async () => / held +in service /.test(String(await listed())));
    const refused = lab.map((slot, index) =>
      index === 1 ? slotAt(2, { state: 'denied', reason: 'denied_unknown_sim' }) : slot,
    );
    node.send({ type: 'slots', slots: refused, alarms: [] });
    await until('refused', async () =>
      /held +refused by the network: the card is not activated, or was closed /.test(String(await listed())),
    );
    node.send({ type: 'slots', slots: lab, alarms: [] });
    await until('not refused', async () => !String(await listed()).includes('denied'));
    await until('away', async () => {
      // A heartbeat may undo it.
      await db.updateTable('nodes').set({ link_alive_until: null }).where('id', '=', 'lab').execute();
      return / held +node away /.test(String(await listed()));
    });
    const end = new Date(Date.now() - 1_000);
    await db.updateTable('subscriptions').set({ expires_at: end }).execute();
    t.match(await listed(), / held +ended, in its grace time /);
    await db
      .updateTable('subscriptions')
      .set({ expires_at: new Date(Date.now() + 86_400_000) })
      .execute();
  });

  await t.test('slots and subscriptions', async (t) => {
    const slots = (await operator.call('slots', { find: String(lab[1]?.device_id).slice(-8), limit: 9 }))
      .rows;
    t.match(slots, [{ slot: 'm2', imei: lab[1]?.device_id, is_held: true }]);
    t.notMatch(JSON.stringify(slots), new RegExp(ALICE.address, 'i'), 'no wallet in it');
    const places = async (find: string) =>
      (await operator.call('slots', { find, limit: 9 })).rows.map(({ node, slot }) => `${node}/${slot}`);
    t.same(await places('1-1.2'), ['other/1-1.2'], 'a place on the bus');
    t.same(await places('other/1-1.2'), ['other/1-1.2'], 'with its node');
    t.same(await places('-1.'), ['other/1-1.2', 'other/1-1.3'], 'a part of it');
    const down = [slotAt(1, { operator: null, state: 'searching' }), ...lab.slice(1)];
    node.send({ type: 'slots', slots: down, alarms: [] });
    const searching = async () => (await operator.call('slots', { state: 'searching', limit: 9 })).rows;
    await until('it searches', async () => (await searching()).length === 1);
    t.match(await searching(), [{ slot: 'm1', carrier: '310260' }], 'the last network is still known');
    const found = (query: object) => operator.call('subscriptions', { limit: 9, ...query });
    t.equal((await found({ carrier: 'verizon' })).rows.length, 1);
    t.equal((await found({ find: '0002' })).rows.length, 1);
    t.equal((await found({ until: '2020-01-01' })).rows.length, 0);
    t.equal((await found({ since: '2020-01-01T10:00', sort: { by: 'until' } })).rows.length, 1);
    await t.rejects(found({ since: 'yesterday' }), /since: must be a date or a time/);
  });

  await t.test('the audit log', async (t) => {
    await operator.call('takeSlotOutOfService', { node: 'lab', slot: 'm4', reason: '=HYPERLINK("x")' });
    const audit = async (query: object) =>
      (await operator.call('auditLog', { limit: 9, ...query })).rows.map(({ action }) => action);
    t.same(await audit({ node: 'lab' }), ['takeSlotOutOfService', 'addNode']);
    t.same(await audit({ find: 'HYPERLINK' }), ['takeSlotOutOfService']);
    t.same(
      await audit({ find: 'out of SERVICE' }),
      ['takeSlotOutOfService'],
      'as the list writes the action',
    );
    t.same(await audit({ find: 'SlotOut' }), ['takeSlotOutOfService']);
    t.same(await audit({ actor: 'zoe' }), []);
    t.same(await audit({ actor: 'command line', sort: { by: 'action' } }), [
      'addNode',
      'addNode',
      'takeSlotOutOfService',
    ]);
    t.same(await audit({ until: '2020-01-01' }), []);
  });

  await t.test('the commands', async (t) => {
    const control = (...args: string[]) => runCommand(args, { DATABASE_URL: databaseUrl, DATA_DIR });
    const [table, csv, some, wrong, audit] = await Promise.all([
      control('slot', 'list', '--carrier', 'T-Mobile', '--sort', 'slot', '--descending'),
      control('number', 'list', '--csv'),
      control('number', 'list', '--csv', '--limit', '2', '--node', 'lab'),
      control('slot', 'list', '--find', '1'),
      control('audit', 'list', '--csv', '--find', 'HYPERLINK'),
    ]);
    t.match(table.stdout, /lab +m4 +out of service +\+12065550004 +- +T-Mobile \(310260\).*\nlab +m1 /);
    t.match(
      csv.stdout,
      /^Number,State,Service,ICCID,.*\r\n\+12065550001,[^\r]*\r\n\+1206…0002,held,registered,/,
    );
    t.match(csv.stdout, /,T-Mobile \(310260\),.*,'=cmd\(\),/s, 'a node’s text is no formula');
    t.equal(csv.stdout.split('\r\n').length, 7);
    t.match(some, { stdout: /^Number.*\r\n.*\r\n.*\r\n$/, stderr: 'There are more: --after +12065550002\n' });
    t.match(wrong, { status: 1, stderr: /--find: must have at least 2 characters/ });
    t.match(audit.stdout, /take slot out of service,lab\/m4,ok,"reason: =HYPERLINK\(""x""\)"\r\n/);
  });

  await t.test('a sorted page after a row that is gone', async (t) => {
    const gone = { message: 'The row to go on from is gone: start again.' };
    const sort = { by: 'state' } as const;
    const { rows } = await operator.call('numbers', { sort, limit: 9 });
    const after = String(rows.at(-1)?.number);
    t.same(await operator.call('numbers', { sort, limit: 9, after }), { rows: [], next: null }, 'its end');
    const page = { limit: 9, after: '+12065559999' };
    t.same((await operator.call('numbers', page)).rows, [], 'without a sort, the row may be gone');
    await t.rejects(operator.call('numbers', { ...page, sort }), gone);
    const place = { limit: 9, after: { node: 'lab', slot: 'm99' } };
    await t.rejects(operator.call('slots', { ...place, sort }), gone);
    await t.rejects(operator.call('probedSlots', { ...place, span: 'day', sort: { by: 'at' } }), gone);
    await t.rejects(operator.call('subscriptions', { limit: 9, after: 'sub_99' }), gone);
    await t.rejects(operator.call('auditLog', { limit: 9, after: 99_999, sort: { by: 'action' } }), gone);
    await t.rejects(operator.call('probes', { limit: 9, after: 99_999, sort: { by: 'at' } }), gone);
    await t.rejects(
      operator.call('traffic', { by: 'node', limit: 9, after: 'x', sort: { by: 'sent' } }),
      gone,
    );
    const args = ['number', 'list', '--sort', 'state', '--csv', '--after', page.after];
    t.match(await runCommand(args, { DATABASE_URL: databaseUrl, DATA_DIR }), {
      status: 2,
      stdout: '',
      stderr: /The row to go on from is gone: start again\./,
    });
  });
});
