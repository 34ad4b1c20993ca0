// The settings that calls lack, judged on answers that users of these modems published.
import t from 'tap';
import { DEFAULT_CARRIER_SETTINGS } from '#node-daemon/config/node-config.ts';
import { homeNetworkOf, needsOf, planOf } from '#node-daemon/modem/carrier/voice-plan.ts';
import { HUAWEI } from '#node-daemon/profiles/huawei.ts';
import { QUECTEL } from '#node-daemon/profiles/quectel.ts';
import { SIMCOM } from '#node-daemon/profiles/simcom.ts';

const LIST = 'AT+QMBNCFG="List"';
const AUTO = 'AT+QMBNCFG="AutoSel"';
const IMS = 'AT+QCFG="ims"';
const CONTEXTS = 'AT+CGDCONT?';

const needs = (network: string, profile = QUECTEL) =>
  needsOf(profile, network, DEFAULT_CARRIER_SETTINGS)?.needs ?? {};
const quectel = (answers: Record<string, string[]>, network = '310260') =>
  planOf(QUECTEL.voiceSettings ?? [], new Map(Object.entries(answers)), needs(network), undefined);

t.test('the network of a card', async (t) => {
  t.equal(homeNetworkOf('310260123456789'), '310260');
  t.equal(homeNetworkOf('311480123456789'), '311480');
  t.equal(homeNetworkOf('302720123456789'), '302720');
  t.equal(homeNetworkOf('262021234567890'), '26202');
  t.equal(homeNetworkOf('001010000000001'), '00101');
  t.same(needs('311480').carrierProfiles, ['hVoLTE-Verizon', 'CDMAless-Verizon']);
  t.equal(needsOf(QUECTEL, '26202', DEFAULT_CARRIER_SETTINGS), undefined);
  t.equal(needsOf(HUAWEI, '310260', DEFAULT_CARRIER_SETTINGS), undefined, 'no LTE');
});

t.test('EG25-G with no active profile (pinephone_modem_sdk#40)', async (t) => {
  const plan = quectel({
    [LIST]: [
      '+QMBNCFG: "List",0,0,0,"ROW_Generic_3GPP",0x0501081F,202108201',
      '+QMBNCFG: "List",4,0,0,"Commercial-TMO_VoLTE",0x05010505,202106241',
    ],
    [AUTO]: ['+QMBNCFG: "AutoSel",1'],
  });
  t.same(
    plan.changes.map(({ commands }) => commands),
    [['AT+QMBNCFG="AutoSel",0', 'AT+QMBNCFG="Select","Commercial-TMO_VoLTE"']],
    'nothing to deactivate',
  );
  t.equal(plan.needsRestart, true);
  t.same(plan.changes[0]?.undo, ['AT+QMBNCFG="AutoSel",1']);
});

t.test(
  'EG25-G with the generic profile (documentation of the PinePhone Pro), and with calls over LTE off',
  async (t) => {
    const answers = {
      [LIST]: [
        '+QMBNCFG: "List",0,1,1,"ROW_Generic_3GPP",0x0501081F,201901141',
        '+QMBNCFG: "List",2,0,0,"hVoLTE-Verizon",0x05010141,201911251',
      ],
      [AUTO]: ['+QMBNCFG: "AutoSel",0'],
      [IMS]: ['+QCFG: "ims",2,0'],
      [CONTEXTS]: ['+CGDCONT: 1,"IPV4V6","","0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0",0,0,0,0'],
    };
    const plan = quectel(answers, '311480');
    t.same(plan.changes, [
      {
        name: 'carrier_profile',
        commands: ['AT+QMBNCFG="Deactivate"', 'AT+QMBNCFG="Select","hVoLTE-Verizon"'],
        undo: ['AT+QMBNCFG="Select","ROW_Generic_3GPP"'],
      },
      { name: 'ims', commands: ['AT+QCFG="ims",1'], undo: [] },
    ]);
    t.equal(plan.differences.length, 3, 'the context is judged again after the restart');
    const selected = quectel(
      { ...answers, [LIST]: ['+QMBNCFG: "List",2,1,0,"hVoLTE-Verizon",0x05010141,201911251'], [IMS]: [] },
      '311480',
    );
    t.same(selected.changes[0]?.commands, [], 'only the restart is missing');
    t.equal(selected.needsRestart, true);
  },
);

t.test(
  'SIM7600G-H with a card of T-Mobile: all is right (T-SIM7600X#90); one that searches for 3G alone',
  async (t) => {
    const contexts = [
      '+CGDCONT: 1,"IPV4V6","fast.t-mobile.com","0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0",0,0,0,0',
      '+CGDCONT: 2,"IPV4V6","ims","0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0",0,0,0,0',
      '+CGDCONT: 3,"IPV4V6","sos","0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0",0,0,0,1',
      '+CGDCONT: 4,"IPV4V6","tmus","0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0",0,0,0,0',
    ];
    const plan = (mode: string, lines: string[]) =>
      planOf(
        SIMCOM.voiceSettings ?? [],
        new Map([
          ['AT+CNMP?', [`+CNMP: ${mode}`]],
          [CONTEXTS, lines],
        ]),
        needs('310260', SIMCOM),
        undefined,
      );
    t.same(plan('38', contexts).differences, []);
    t.match(plan('14', contexts), { changes: [{ commands: ['AT+CNMP=2'] }], needsRestart: false });
    const without = plan(
      '2',
      contexts.filter((line) => !line.includes('"ims"')),
    );
    t.match(without.changes, [{ commands: ['AT+CGDCONT=2,"IPV4V6","ims"'] }], 'in a free place');
  },
);

t.test('a list that is no list: its names go into no command', async (t) => {
  const plan = quectel({
    [LIST]: [
      '+QMBNCFG: "List",0,1,1,"ROW_\u00e9;+CFUN=0",0,0',
      '+QMBNCFG: "List",x',
      '+QMBNCFG: "List",4,0,0,"commercial-tmo_volte",0,0',
    ],
  });
  t.match(plan.changes, [{ commands: ['AT+QMBNCFG="Select","commercial-tmo_volte"'], undo: [] }]);
});

t.test('a modem that refuses every query is left alone', async (t) => {
  t.same(quectel({}), { differences: [], impossible: [], changes: [], needsRestart: false });
});
