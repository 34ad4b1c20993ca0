// The command line grammar of ITU-T V.250 §5, by table; lines are those that real clients send.
import t from 'tap';
import { parseCommandLine } from '#hardware-sim/at/at-line.ts';

/** "name operation value", one for each command. */
function parsed(body: string): string[] | undefined {
  return parseCommandLine(body)?.map(({ name, operation, value }) => `${name} ${operation} ${value}`.trim());
}

const LINES: [body: string, commands: string[] | undefined][] = [
  ['', []],
  ['E0', ['E execute 0']],
  ['e0v1', ['E execute 0', 'V execute 1']],
  [
    'E0V1Q0X4&C1&D2',
    ['E execute 0', 'V execute 1', 'Q execute 0', 'X execute 4', '&C execute 1', '&D execute 2'],
  ],
  ['S3=13S4?', ['S3 set 13', 'S4 read']],
  ['+CMEE=1;+CREG=2', ['+CMEE set 1', '+CREG set 2']],
  ['E0+CMEE=1', ['E execute 0', '+CMEE set 1']],
  ['+COPS=3,2;+COPS?', ['+COPS set 3,2', '+COPS read']],
  ['+CGMI;', ['+CGMI execute']],
  ['+CPMS=?', ['+CPMS test']],
  ['+cpms="SM","ME"', ['+CPMS set "SM","ME"']],
  ['+CUSD=1,"a;b",15;+CSQ', ['+CUSD set 1,"a;b",15', '+CSQ execute']],
  ['D+15551234567;', ['D execute +15551234567;']],
  ['+QPCMV=0;+QPCMV=1,0;D12345;', ['+QPCMV set 0', '+QPCMV set 1,0', 'D execute 12345;']],
  ['^SYSINFO', ['^SYSINFO execute']],
  ['$TSSPCSW=?', ['$TSSPCSW test']],
  [' + CSQ', undefined],
  ['+CMGF 1', undefined],
  ['+CPMS="SM', undefined],
  ['+CPMS="SM"ME', undefined],
  ['=1', undefined],
  ['E0?', undefined],
];

for (const [body, commands] of LINES) {
  t.test(`reads "AT${body}"`, async (t) => t.same(parsed(body), commands));
}

t.test('reads quoted, plain and omitted parameters', async (t) => {
  t.same(parseCommandLine('+CMGW= "+1206,55" , 145,,"",x')?.[0]?.parameters, [
    '+1206,55',
    '145',
    '',
    '',
    'x',
  ]);
});
