// Lines of modems about calls, as their makers' manuals and people who recorded them have them. Sources:
//   [27.007]  3GPP TS 27.007 §6.10, §6.11, §7.6, §7.18
//   [V.250]   ITU-T V.250 §5.7.1
//   [EC2x]    Quectel's AT commands manual of EC2x, and of EG25-G (p. 114)
//   [quectel] RoEdAl's asterisk-chan-quectel, the examples in at_parse.c
//   [DSCI]    README of IchthysMaranatha's asterisk-chan-quectel
//   [callpilot] tianye1999/callpilot: the flow control of AT+QPCMV
//   [MM]      ModemManager: the tests of its simtech plugin, the expressions of its huawei plugin
//   [log]     logs of users: of a SIM7600G-H, of Huawei sticks and modules, of an EG25 with data up
import t, { type Test } from 'tap';
import {
  type CallEvent,
  causeOfReport,
  commonCallEvent,
  type ListedCall,
  listedCalls,
} from '#node-daemon/profiles/call-event.ts';
import { GENERIC_VOICE } from '#node-daemon/profiles/generic.ts';
import { HUAWEI_VOICE } from '#node-daemon/profiles/huawei.ts';
import type { MakeVoice } from '#node-daemon/profiles/profile.ts';
import { QUECTEL_VOICE } from '#node-daemon/profiles/quectel.ts';
import { SIMCOM_VOICE } from '#node-daemon/profiles/simcom.ts';
import { type LineCall, nextCall } from '#node-daemon/voice/state/line-state.ts';
import { liveCallSchema } from '#shared/voice/call.ts';

const eventOf = (voice: MakeVoice, line: string): CallEvent | undefined =>
  voice.event(line) ?? commonCallEvent(line);

function sayEach(voice: MakeVoice, cases: readonly [line: string, event: CallEvent | undefined][]) {
  return async (t: Test): Promise<void> => {
    for (const [line, event] of cases) t.same(eventOf(voice, line), event, line);
  };
}

const call = (
  index: number,
  direction: 'inbound' | 'outbound',
  state: ListedCall['state'],
  number: string | null,
) => ({ index, direction, state, number }) as const;
const listed = (...parts: Parameters<typeof call>): CallEvent => ({ kind: 'listed', call: call(...parts) });
const released = (cause?: number): CallEvent =>
  cause === undefined ? { kind: 'released' } : { kind: 'released', cause };
const digit = (key: string): CallEvent => ({ kind: 'digit', digit: key });
const caller = (number: string | null): CallEvent => ({ kind: 'caller', number });

t.test('a number of any length fits on the control link', async (t) => {
  const peer = liveCallSchema.shape.peer;
  for (const length of [20, 31, 32, 33, 80]) {
    const digits = '1'.repeat(length);
    for (const type of [129, 145])
      for (const line of [`+CLIP: "${digits}",${type}`, `+CLIP: "+${digits}",${type}`]) {
        const event = eventOf(GENERIC_VOICE, line);
        t.ok(event?.kind === 'caller' && peer.safeParse(event.number).success, line);
      }
    const [listed] = listedCalls([`+CLCC: 1,1,4,0,0,"${digits}",145`]);
    t.ok(peer.safeParse(listed?.number).success);
  }
});

t.test(
  'the call list: with names, several calls, no numbers; no data bearer, no disconnected call',
  async (t) => {
    t.same(
      listedCalls([
        // [MM]
        '+CLCC: 1,1,0,0,0',
        '+CLCC: 2,1,0,0,0,"123456789",161',
        '+CLCC: 3,1,0,0,0,"987654321",161,"Alice"',
        '+CLCC: 2,1,5,0,0,"987654321",161',
      ]),
      [
        call(1, 'inbound', 'active', null),
        call(2, 'inbound', 'active', '123456789'),
        call(3, 'inbound', 'active', '987654321'),
        call(2, 'inbound', 'waiting', '987654321'),
      ],
    );
    // [EC2x], [log]: a bearer of LTE is a call of mode 1, and takes the first index.
    t.same(listedCalls(['+CLCC: 1,0,0,1,0,"",128', '+CLCC: 2,1,4,0,0,"02154450290",129']), [
      call(2, 'inbound', 'incoming', '02154450290'),
    ]);
    t.same(listedCalls(['+CLCC: 1,0,0,1,0,"",128', '+CLCC: 4,1,4,0,0,"97817169",129']), [
      call(4, 'inbound', 'incoming', '97817169'),
    ]);
    // [27.007]: of a conference; a number that is said to be international; a name with commas; all fields there are.
    t.same(
      listedCalls([
        '+CLCC: 1,0,0,0,1,"+13105550188",145',
        '+CLCC: 2,0,1,0,1,"13105550188",145',
        '+CLCC: 3,0,3,0,0,"+13105550188",145,"Doe, Jane, Dr."',
        '+CLCC: 4,0,2,0,0,"+13105550188",145,"",0,0',
        '+CLCC: 5,1,4,0,0,"",128,"",0,1',
      ]),
      [
        call(1, 'outbound', 'active', '+13105550188'),
        call(2, 'outbound', 'held', '+13105550188'),
        call(3, 'outbound', 'alerting', '+13105550188'),
        call(4, 'outbound', 'dialing', '+13105550188'),
        call(5, 'inbound', 'incoming', null),
      ],
    );
    // [27.007]: fax, voice followed by data, unknown. [log]: state 6 is "disconnected" on some of SIMCom's; "0" for none.
    const strange = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((mode) => `+CLCC: 1,1,0,${mode},0,"1",129`);
    t.same(listedCalls([...strange, '+CLCC: 1,1,6,0,0,"+13105550188",145', '+CLCC: 0', '+CLCC:', '']), []);
    t.same(listedCalls(['+CLCC: a,b,c,d', '+CLCC: 1,1,-1,0,0', '+CLCC: ,,,,,,', '+CLCC: 1;1;4;0;0']), []);
  },
);

t.test(
  'all makes: rings, callers, ends',
  sayEach(GENERIC_VOICE, [
    ['RING', { kind: 'rings' }],
    // [27.007], [MM]; data calls ring as well.
    ['+CRING: VOICE', { kind: 'rings' }],
    ['+CRING: REL ASYNC', undefined],
    ['+CRING: GPRS', undefined],
    // [27.007], [log]
    ['+CLIP: "+15551234567",145,,,,0', caller('+15551234567')],
    ['+CLIP: "15551234567",145', caller('+15551234567')],
    ['+CLIP: "18969188036",161,,,,0', caller('18969188036')],
    ['+CLIP: "5551234",129,"",,"",0', caller('5551234')],
    ['+CLIP: "+15551234567",145,,,"Doe, Jane",0', caller('+15551234567')],
    // Callers who hide: [27.007] with validity 1; without; [log]: Ericsson, Quectel.
    ['+CLIP: "",128,,,,1', caller(null)],
    ['+CLIP: "",128', caller(null)],
    ['+CLIP: "",161,,,""', caller(null)],
    ['+CLIP: "",128,"",,"",0', caller(null)],
    ['+CLIP: ,128,,,,2', caller(null)],
    // [V.250]
    ['NO CARRIER', released()],
    ['BUSY', released(17)],
    ['NO ANSWER', released(19)],
    ['CONNECT', undefined],
    ['CONNECT 9600', undefined],
    ['OK', undefined],
    ['+CCWA: "+15551234567",145,1', undefined],
    ['+COLP: "+15551234567",145', undefined],
    // Lines of another make.
    ['^CEND:1,6,67,16', undefined],
    ['VOICE CALL: END: 000041', undefined],
    ['+QIND: "ccinfo",2,0,3,0,0,"15551234567",129', undefined],
  ]),
);

t.test(
  'Quectel',
  sayEach(QUECTEL_VOICE, [
    // [quectel]
    ['+QIND: "ccinfo",2,0,3,0,0,"15551234567",129', listed(2, 'outbound', 'alerting', '15551234567')],
    ['+QIND: "ccinfo",2,0,-1,0,0,"15551234567",129', released()],
    ['+QIND: "ccinfo",2,1,-1,0,0,"+372132123",145,"Ilja"', released()],
    ['+QIND: "ccinfo",4,1,4,0,0,"0955452980",128', listed(4, 'inbound', 'incoming', '0955452980')],
    ['+QIND: "ccinfo",1,0,2,0,0,"+15551234567",145', listed(1, 'outbound', 'dialing', '+15551234567')],
    ['+QIND: "ccinfo",1,1,0,0,0,"",128', listed(1, 'inbound', 'active', null)],
    // Data comes and goes while a call is up.
    ['+QIND: "ccinfo",1,0,0,1,0,"",128', undefined],
    ['+QIND: "ccinfo",1,0,-1,1,0,"",128', undefined],
    ['+QIND: "csq",21,99', undefined],
    ['+QIND: "act","LTE"', undefined],
    ['+QIND: "ccinfo"', undefined],
    // [DSCI]: states of its own; unquoted numbers.
    ['^DSCI: 4,1,3,0,+15551234567,145', listed(4, 'inbound', 'active', '+15551234567')],
    ['^DSCI: 3,0,6,0,5551234,129', released()],
    ['^DSCI: 3,0,2,0,5551234,129', listed(3, 'outbound', 'dialing', '5551234')],
    ['^DSCI: 3,0,7,0,5551234,129,0', listed(3, 'outbound', 'alerting', '5551234')],
    ['^DSCI: 4,1,4,0,+15551234567,145', listed(4, 'inbound', 'incoming', '+15551234567')],
    ['^DSCI: 4,1,5,0,+15551234567,145', listed(4, 'inbound', 'waiting', '+15551234567')],
    ['^DSCI: 4,1,6,1,,', undefined],
    ['^DSCI: 4,1,1,0,,', undefined],
    // [EC2x]: the ASCII code of the key.
    ...[...'0123456789*#ABCD'].map((key): [string, CallEvent] => [
      `+QTONEDET: ${key.charCodeAt(0)}`,
      digit(key),
    ]),
    ...['+QTONEDET: 97', '+QTONEDET: 13', '+QTONEDET: 0', '+QTONEDET: x', '+QTONEDET:'].map(
      (line): [string, undefined] => [line, undefined],
    ),
    // [callpilot]: 0,0 when it takes no more, 1,0 when it does again. `+QPCMV: 1,2` is an answer about its sound card.
    ['+QPCMV: 0,0', { kind: 'audioFlow', isPaused: true }],
    ['+QPCMV: 1,0', { kind: 'audioFlow', isPaused: false }],
    ['+QPCMV: 1,2', undefined],
    ['+QPCMV: 0,2', undefined],
    ['NO CARRIER', released()],
  ]),
);

t.test(
  'SIMCom',
  sayEach(SIMCOM_VOICE, [
    // [MM], [log]
    ['VOICE CALL: BEGIN', { kind: 'answered' }],
    ['VOICE CALL: END', released()],
    ['VOICE CALL: END: 000041', released()],
    ['VOICE CALL: END: 000352', released()],
    ['MISSED_CALL: 11:01AM 07712345678', released()],
    ['MISSED_CALL: 08:48AM +27839776374', released()],
    ['+CLCC: 1,1,0,0,0,"123456789",161', listed(1, 'inbound', 'active', '123456789')],
    ['+CLCC: 1,0,3,0,0,"+15551234567",145', listed(1, 'outbound', 'alerting', '+15551234567')],
    ['+CLCC: 1,0,0,1,0,"",128', undefined],
    ['+CLCC: 1,0,6,0,0,"+15551234567",145', undefined],
    ...[...'8*#A'].map((key): [string, CallEvent] => [`+RXDTMF: ${key}`, digit(key)]),
    ['+RXDTMF: 1', digit('1')],
    ['+DTMF:5', digit('5')],
    ['+RXDTMF: 12', undefined],
    ['+RXDTMF:', undefined],
    ['+CPCMREG: 1', undefined],
    ['VOICE CALL', undefined],
  ]),
);

t.test(
  'Huawei',
  sayEach(HUAWEI_VOICE, [
    // [MM]: with and without blanks.
    ['^ORIG:1,0', undefined],
    ['^CONF:1', { kind: 'alerting' }],
    ['^CONN:1,0', { kind: 'answered' }],
    ['^CONN: 1, 0', { kind: 'answered' }],
    ['^DDTMF: 1', digit('1')],
    ['^DDTMF:#', digit('#')],
    ['^DDTMF: x', undefined],
    // [log]: with the cause of the network, without, with one that is none, with more behind it.
    ['^CEND:1,6,67,16', released(16)],
    ['^CEND: 1,9,67,16', released(16)],
    ['^CEND:1, 0, 104, 17', released(17)],
    ['^CEND:1,82,29', released()],
    ['^CEND:1,0,48', released()],
    ['^CEND:1,0,255,255', released()],
    ['^CEND:1,0,101,17,0', released(17)],
    ['^CEND:1,0,29,0', released()],
    ['^CEND:', released()],
    ['^DSFLOWRPT:0000000C,00000000,00000000,0000000000000162,0000000000000162,00000000,00000000', undefined],
  ]),
);

t.test('AT+CEER: a cause as number or word, or none', async (t) => {
  for (const [line, cause] of [
    // [EC2x], [log] of several makes; words as in TS 24.008 annex H.
    ['+CEER: 5,16', 16],
    ['+CEER: 5,17', 17],
    ['+CEER: 0,0,5,16,normal call clearing', 16],
    ['+CEER: 17, CM_USER_BUSY', 17],
    ['+CEER: User busy', 17],
    ['+CEER: No answer from user', 19],
    ['+CEER: Call rejected', 21],
    ['+CEER: Client ended call', undefined],
    ['+CEER: "0 Unknown"', undefined],
    ['+CEER: 0,NONE', undefined],
    ['+CEER: 5,256', undefined],
    ['+CEER:', undefined],
  ] as const)
    t.equal(causeOfReport(line), cause, line);
});

// Whole calls, as the makers' modems report them. A report of an ended call does not bring it back.
const TO = '+13105550188';
const OUT: LineCall = { direction: 'outbound', state: 'dialing', peer: TO };
for (const [what, voice, from, lines, expected] of [
  [
    'Quectel, ccinfo',
    QUECTEL_VOICE,
    OUT,
    [
      ...[2, 3, 0, -1].map((state) => `+QIND: "ccinfo",1,0,${state},0,0,"${TO}",145`),
      'NO CARRIER',
      `+QIND: "ccinfo",1,0,-1,0,0,"${TO}",145`,
    ],
    ['dialing', 'ringing', 'active', 'ended', '-', '-'],
  ],
  [
    'Quectel, DSCI',
    QUECTEL_VOICE,
    OUT,
    [...[2, 7, 3, 6].map((state) => `^DSCI: 1,0,${state},0,${TO},145`), 'NO CARRIER'],
    ['dialing', 'ringing', 'active', 'ended', '-'],
  ],
  [
    'Quectel, rung',
    QUECTEL_VOICE,
    undefined,
    [
      `+CLIP: "${TO}",145,,,,0`,
      `+QIND: "ccinfo",2,1,4,0,0,"${TO}",145`,
      'RING',
      `+QIND: "ccinfo",2,1,-1,0,0,"${TO}",145`,
      'NO CARRIER',
    ],
    ['ringing', 'ringing', 'ringing', 'ended', '-'],
  ],
  [
    'SIMCom',
    SIMCOM_VOICE,
    OUT,
    [
      `+CLCC: 1,0,2,0,0,"${TO}",145`,
      `+CLCC: 1,0,3,0,0,"${TO}",145`,
      'VOICE CALL: BEGIN',
      `+CLCC: 1,0,0,0,0,"${TO}",145`,
      'VOICE CALL: END: 000017',
      `+CLCC: 1,0,6,0,0,"${TO}",145`,
      'NO CARRIER',
    ],
    ['dialing', 'ringing', 'active', 'active', 'ended', '-', '-'],
  ],
  [
    'SIMCom, missed',
    SIMCOM_VOICE,
    undefined,
    [
      `RING`,
      `+CLIP: "${TO}",145`,
      `+CLCC: 1,1,4,0,0,"${TO}",145`,
      `MISSED_CALL: 11:01AM ${TO}`,
      'NO CARRIER',
    ],
    ['ringing', 'ringing', 'ringing', 'ended', '-'],
  ],
  [
    'Huawei',
    HUAWEI_VOICE,
    OUT,
    ['^ORIG:1,0', '^CONF:1', '^CONN:1,0', '^CEND:1,17,104,16', 'NO CARRIER'],
    ['dialing', 'ringing', 'active', 'ended', '-'],
  ],
  ['any other, busy', GENERIC_VOICE, OUT, ['BUSY', 'NO CARRIER'], ['ended', '-']],
] as const) {
  t.test(`a whole call: ${what}`, async (t) => {
    let now: LineCall | undefined = from;
    const states = lines.map((line) => {
      const event = eventOf(voice, line);
      if (event === undefined) return now?.state ?? '-';
      const step = nextCall(now, event);
      now = 'ended' in step ? undefined : step.call;
      return 'ended' in step ? 'ended' : (now?.state ?? '-');
    });
    t.same(states, expected);
  });
}
