// `control-plane fleet apply` as an operator runs it, beside a service and without one.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { PinVault } from '#control-plane/pins/pin-vault.ts';
import { applyFleet, planFleet } from '#control-plane/store/cards/fleet-apply.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { validIccid } from '../../fixtures/nodes/valid-iccid.ts';
import { runCommand } from '../../fixtures/run-command.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { openTestOperator } from '../../fixtures/service/test-operator.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';

const TIMEOUT = { timeout: 300_000 };
const rig = await createRig();
const [SIM_1, SIM_2, SIM_3] = [validIccid(1), validIccid(2), validIccid(3)] as const;
const TITLES = 'iccid,number,pin,label,carrier,plan,plan_expires,monthly_cost';

async function operated(t: Test) {
  const { databaseUrl, url } = await rig.start(t);
  const folder = temporaryFolder(t);
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: folder };
  const control = (...args: string[]) => runCommand(args, env);
  const apply = (lines: readonly string[], ...options: string[]) => {
    const file = join(folder, 'fleet.csv');
    writeFileSync(file, `${lines.join('\n')}\n`);
    return control('fleet', 'apply', file, ...options);
  };
  const db = await openTestDatabase(t, databaseUrl);
  return { apply, control, databaseUrl, db, folder, url };
}

t.test('a diff first, then all cards; the same file again changes nothing', TIMEOUT, async (t) => {
  const { apply, control, db, folder } = await operated(t);
  const lines = [
    TITLES,
    `${SIM_1},+12065550101,0042,rack 1 top,US Mobile,Unlimited,2099-12-31,4.5`,
    `${SIM_2},+12065550102,,,,,,12`,
  ];
  const dry = await apply(lines, '--dry-run');
  t.match(dry, { status: 0, stderr: '' });
  t.match(dry.stdout, `+ ${SIM_1}\n    number: +12065550101\n    label: rack 1 top\n`);
  t.match(dry.stdout, /^ {4}pin: set$/m);
  t.match(dry.stdout, /^2 new, 0 changed, 0 unchanged$/m);
  t.notMatch(dry.stdout, '0042');
  t.notOk(existsSync(join(folder, 'pin.key')), 'nor the key of the PINs, perhaps as another user');
  const cards = () => db.selectFrom('cards').selectAll().orderBy('iccid').execute();
  t.same(await cards(), [], 'a dry run writes nothing');
  t.same(await db.selectFrom('numbers').select('number').execute(), []);

  const unasked = await apply(lines);
  t.match(unasked, { status: 2, stderr: /2 new.*\n.*Nothing was changed. Run the command with --yes/s });
  t.same(await cards(), [], 'not without a yes');

  t.match(await apply(lines, '--yes'), { status: 0, stdout: /^applied$/m });
  const [first, second] = await cards();
  t.match(first, { label: 'rack 1 top', monthly_cost: '4.50', pin_state: 'untried' });
  t.match(second, { label: null, monthly_cost: '12.00', pin: null, pin_state: null });
  t.match(await db.selectFrom('numbers').select(['number', 'iccid']).orderBy('number').execute(), [
    { number: '+12065550101', iccid: SIM_1 },
    { number: '+12065550102', iccid: SIM_2 },
  ]);
  t.match(await apply(lines, '--yes'), { stdout: '0 new, 0 changed, 2 unchanged\n' });

  const key = join(folder, 'pin.key');
  t.equal(statSync(key).mode & 0o777, 0o600, 'only the service may read the key');
  t.match(readFileSync(key, 'utf8'), /^[A-Za-z0-9_-]{43}\n$/);
  t.notMatch(JSON.stringify(await cards()), '0042', 'the PIN is not in the database');
  t.notMatch(first?.pin, Buffer.from('0042').toString('base64url'));
  const audit = await control('audit', 'list', '--json');
  t.match(audit.stdout, 'applyFleet');
  t.match(
    (
      await db
        .selectFrom('audit_log')
        .select('detail')
        .where('action', '=', 'applyFleet')
        .orderBy('id')
        .execute()
    )[0]?.detail,
    {
      added: 2,
      cards: [
        `${SIM_1} (new): number, label, carrier, plan, plan_expires, monthly_cost, pin`,
        `${SIM_2} (new): number, monthly_cost`,
      ],
    },
    'it names the cards, and the fields without their values',
  );
  t.notMatch(audit.stdout, '0042');

  const changed = [TITLES, `${SIM_1},,4711,,US Mobile,Unlimited,2099-12-31,4.50`];
  const json = JSON.parse((await apply(changed, '--json', '--yes')).stdout);
  t.match(json, {
    applied: true,
    others: 1,
    changes: [
      {
        iccid: SIM_1,
        isNew: false,
        fields: [
          { field: 'label', from: 'rack 1 top', to: null },
          { field: 'pin', from: 'set', to: 'another' },
        ],
      },
    ],
  });
  t.match(await apply(['iccid,plan', `${SIM_1},`], '--yes'), { status: 0 });
  t.match(await cards(), [{ plan: null, carrier: 'US Mobile' }, {}], 'a missing column leaves its values');
});

t.test('one wrong line, and nothing is applied', TIMEOUT, async (t) => {
  const { apply, control, db, folder } = await operated(t);
  await apply([TITLES, `${SIM_1},+12065550101,,,,,,`], '--yes');
  const refused = await apply(
    [
      'iccid,number,plan_expires,label',
      `${SIM_2},+12065550101,,`,
      `${SIM_3},+12065550103,2020-01-31,fine`,
      `${SIM_1},+12065550109,,`,
    ],
    '--yes',
  );
  t.equal(refused.status, 2);
  t.strictSame(
    refused.stderr
      .trimEnd()
      .split('\n')
      .map((line) =>
        line
          .replace(/^error: /, '')
          .replace(`${folder}/`, '')
          .trim(),
      ),
    [
      `fleet.csv:2: +12065550101 has the SIM ${SIM_1}`,
      'fleet.csv:3: plan_expires 2020-01-31 is in the past',
      `fleet.csv:4: the SIM ${SIM_1} has the number +12065550101`,
    ],
  );
  const yaml = join(folder, 'fleet.yaml');
  writeFileSync(yaml, `cards:\n  - iccid: "${SIM_3}"\n  - iccid: "${SIM_1}"\n    number: "+12065550109"\n`);
  t.match(await control('fleet', 'apply', yaml, '--yes'), {
    status: 2,
    stderr: `error: ${yaml}:3: the SIM ${SIM_1} has the number +12065550101\n`,
  });
  t.same(await db.selectFrom('cards').select(['iccid', 'label']).execute(), [{ iccid: SIM_1, label: null }]);
  t.equal((await db.selectFrom('numbers').selectAll().execute()).length, 1);
});

t.test('an expired plan is no mistake, and the diff that was shown is applied', TIMEOUT, async (t) => {
  const { apply, db, folder } = await operated(t);
  const lines = ['iccid,plan_expires,label', `${SIM_1},2099-01-31,a`];
  await apply(lines, '--yes');
  await sql`update cards set plan_expires = '2020-01-31'`.execute(db);
  t.match(await apply(['iccid,plan_expires,label', `${SIM_1},2020-01-31,b`], '--yes'), { status: 0 });
  const cards = [{ line: 1, iccid: SIM_1, label: 'c' }];
  const parts = { pins: new PinVault(join(folder, 'pin.key')), now: new Date() };
  const { digest } = await planFleet(db, cards, parts);
  await sql`update cards set label = 'meanwhile'`.execute(db);
  await t.rejects(applyFleet(db, cards, { ...parts, expected: digest }), {
    message: 'The fleet has changed since the diff was shown. Run the command again',
  });
  t.match(await db.selectFrom('cards').select('label').execute(), [{ label: 'meanwhile' }]);
});

t.test('a node is in the diff, alone or not, and needs a number', TIMEOUT, async (t) => {
  const { apply, db, url } = await operated(t);
  const cards = [`${SIM_1},+12065550101`, `${SIM_2},+12065550102`];
  await apply(['iccid,number', ...cards], '--yes');
  const slots = [slotAt(1, { iccid: SIM_1, number: null }), slotAt(2, { iccid: SIM_2, number: null })];
  await rig.connect(t, url, { nodeId: 'lab', slots });
  const holders = async () =>
    (
      await db
        .selectFrom('numbers')
        .leftJoin('sims', 'sims.iccid', 'numbers.iccid')
        .select(['unproven', 'first_node', 'node_id'])
        .orderBy('number')
        .execute()
    ).map(({ first_node: first, node_id: holder, unproven }) => `${unproven} ${first} ${holder}`);
  t.same(await holders(), ['holder null lab', 'holder null lab']);

  const named = ['iccid,node', `${SIM_1},lab`];
  t.match(await apply(named, '--dry-run'), {
    stdout: `~ ${SIM_1}\n    node: lab (not proven) -> lab\n0 new, 1 changed, 0 unchanged; 1 other card stays as it is\n`,
  });
  await apply(named, '--yes');
  t.same(await holders(), ['null null lab', 'holder null lab'], 'its holder is proven');
  t.match(await apply(named, '--yes'), { stdout: /^0 new, 0 changed, 1 unchanged/ });
  t.match(await apply(['iccid,node', `${SIM_1},other`], '--dry-run'), {
    stdout:
      /fleet\.csv:2: note: the column "node" has no effect: it is proven that lab has the card \d+; there is no node other yet\n0 new, 0 changed/,
  });

  const mistyped = ['iccid,label,node', `${SIM_2},b,alb`];
  t.match(
    (await apply(mistyped, '--dry-run')).stdout,
    '    node: lab (not proven) -> alb\n    label: - -> b\n',
  );
  t.same(await holders(), ['null null lab', 'holder null lab'], 'a dry run takes no card away');
  await apply(mistyped, '--yes');
  t.match(await apply(mistyped, '--yes'), { stdout: /there is no node alb.*\n0 new, 0 changed/ });
  t.match(await apply(['iccid,node', `${SIM_2},lab`], '--dry-run'), { stdout: /^ {4}node: alb -> lab$/m });

  const unnumbered = await apply(['iccid,pin,node', `${SIM_3},0042,lab`, `${SIM_1},0042,lab`], '--yes');
  t.match(unnumbered, { status: 2, stderr: /fleet.csv:2: node: needs a number\n$/ });
  t.equal((await db.selectFrom('cards').select('pin').where('pin', 'is not', null).execute()).length, 0);
});

t.test('a card that a node has reported is not new', TIMEOUT, async (t) => {
  const { apply, url } = await operated(t);
  await rig.connect(t, url, { slots: [slotAt(1, { iccid: SIM_1 })] });
  t.match(await apply(['iccid,label', `${SIM_1},top`, `${SIM_2},drawer`], '--yes'), {
    stdout: `~ ${SIM_1}\n    label: - -> top\n+ ${SIM_2}\n    label: drawer\n1 new, 1 changed, 0 unchanged`,
  });
});

t.test('labels are in the lists, and are found', TIMEOUT, async (t) => {
  const { apply, control, databaseUrl, url } = await operated(t);
  const slots = [slotAt(1, { iccid: SIM_1 }), slotAt(2, { iccid: SIM_2 })];
  await rig.connect(t, url, { nodeId: 'lab', slots });
  const account = await subscribeInStore(databaseUrl, ALICE, '+12065550002');
  await apply(['iccid,label', `${SIM_1},"Office, 3rd floor"`, `${SIM_2},van`], '--yes');
  t.match((await control('slot', 'list')).stdout, /^lab +m1 .* Office, 3rd floor /m);
  t.match(JSON.parse((await control('slot', 'list', '--find', 'office', '--json')).stdout), {
    slots: [{ slot: 'm1', label: 'Office, 3rd floor' }],
  });
  t.match(JSON.parse((await control('number', 'list', '--find', '3RD FLOOR', '--json')).stdout), {
    numbers: [{ iccid: SIM_1, label: 'Office, 3rd floor' }],
  });
  t.match((await control('number', 'list', '--csv')).stdout, ',"Office, 3rd floor",');
  await apply(['iccid,label', `${SIM_2},"=HYPERLINK(1)"`], '--yes');
  t.match((await control('slot', 'list', '--csv')).stdout, ",'=HYPERLINK(1),");
  const found = JSON.parse((await control('subscription', 'list', '--find', 'HYPERLINK', '--json')).stdout);
  t.match(found, { subscriptions: [{ id: account.subscriptionId }] });

  await apply(['iccid,label', `${SIM_2},blue van`], '--yes');
  const operator = await openTestOperator(t, { databaseUrl, url });
  const imei = String(slots[1]?.device_id);
  for (const find of [SIM_2, SIM_2.slice(-8), imei, 'BLUE', ALICE.address, ALICE.address.slice(2, 12)]) {
    const query = { find, limit: 9 };
    const lists = await Promise.all([
      operator.call('slots', query),
      operator.call('numbers', query),
      operator.call('subscriptions', query),
    ]);
    t.match(
      lists.map(({ rows }) => rows),
      [[{ slot: 'm2' }], [{ number: '+12065550002' }], [{ id: account.subscriptionId }]],
      `by ${find}`,
    );
    t.same(
      lists.map(({ rows }) => rows.length),
      [1, 1, 1],
      'and no other',
    );
  }
});

t.test('a file of lists in lists without end', TIMEOUT, async (t) => {
  const { control, folder } = await operated(t);
  for (const part of ['[', '{"cards":', '- ', '? ']) {
    const file = join(folder, 'deep.yaml');
    writeFileSync(file, part.repeat(200_000));
    const stderr = `error: ${file}: has more than 64 lists and maps in each other\n`;
    t.match(await control('fleet', 'apply', file, '--yes'), { status: 1, stderr }, part);
  }
});

t.test('ten thousand cards', TIMEOUT, async (t) => {
  const { apply, db } = await operated(t);
  const number = (index: number) => `+1206${String(2_000_000 + index)}`;
  const lines = Array.from(
    { length: 10_000 },
    (_, index) =>
      `${validIccid(index)},${number(index)},1234,card ${index},US Mobile,Unlimited 5G,2099-12-31,4.50`,
  );
  t.match(await apply([TITLES, ...lines], '--yes'), { status: 0, stdout: /^10000 new, 0 changed/m });
  const { rows } = await sql<{ cards: number; pins: number }>`
    select count(*)::int as cards, count(distinct pin)::int as pins from cards`.execute(db);
  t.same(rows, [{ cards: 10_000, pins: 10_000 }], 'equal PINs do not look equal');
  t.match(await apply([TITLES, ...lines], '--yes'), { stdout: '0 new, 0 changed, 10000 unchanged\n' });
});

t.test('the examples of the documentation apply, both with the same result', TIMEOUT, async (t) => {
  const { control, db } = await operated(t);
  const example = (kind: string) => join(PROJECT_FOLDER, `docs/operators/fleet.example.${kind}`);
  t.match(await control('fleet', 'apply', example('yaml'), '--yes'), { status: 0, stdout: /^applied$/m });
  t.ok((await db.selectFrom('cards').selectAll().execute()).length > 1);
  t.match(await control('fleet', 'apply', example('csv'), '--dry-run'), {
    status: 0,
    stdout: /note: there is no node rack-1 yet: .*\n0 new, 0 changed, \d+ unchanged\n$/,
  });
});
