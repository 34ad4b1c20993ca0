// Keys that a client asks for: each by itself and in order, and no other character reaches the modem.
import fc from 'fast-check';
import t from 'tap';
import { GENERIC_VOICE } from '#node-daemon/profiles/generic.ts';
import { HUAWEI_VOICE } from '#node-daemon/profiles/huawei.ts';
import type { MakeVoice } from '#node-daemon/profiles/profile.ts';
import { QUECTEL_VOICE } from '#node-daemon/profiles/quectel.ts';
import { SIMCOM_VOICE } from '#node-daemon/profiles/simcom.ts';
import { LineRig } from './line-rig.ts';

const KEY = /^AT(?:\+VTS="[0-9*#A-D]"|\^DTMF=1,[0-9*#A-D])$/;
const TO = '+13105550188';
const ALL = '0123456789*#ABCD';
const HOSTILE = [
  '"',
  '1"',
  '1";+CFUN=0',
  '1\r',
  '1\rATD911;',
  '\x1a',
  '\x1b',
  '\n',
  '\0',
  ';',
  ',',
  ' ',
  'a',
  'd',
  'E',
  'p',
  'w',
  '1,2',
  '+',
  '１',
  '١',
  '\u0301',
  '1\u200b',
  '😀',
  'ATD911;',
  '911;',
  '=',
  '?',
  '!',
];

async function talking(voice: MakeVoice): Promise<LineRig> {
  const rig = new LineRig(voice);
  rig.calls = [`+CLCC: 1,1,4,0,0,"${TO}",145`];
  await rig.say('RING', `+CLIP: "${TO}",145`);
  await rig.line.answer();
  rig.calls = [`+CLCC: 1,1,0,0,0,"${TO}",145`];
  await rig.pass(0);
  rig.port.received.length = 0;
  return rig;
}

const keysOf = (rig: LineRig): string[] => rig.written.filter((text) => /VTS|DTMF/.test(text));

for (const [make, voice] of Object.entries({
  generic: GENERIC_VOICE,
  quectel: QUECTEL_VOICE,
  simcom: SIMCOM_VOICE,
  huawei: HUAWEI_VOICE,
})) {
  t.test(`${make}: every key, one at a time, with a pause between them`, async (t) => {
    const rig = await talking(voice);
    t.equal(rig.line.press(ALL), true);
    await rig.pass(0);
    t.equal(keysOf(rig).length, 1, 'the next one waits');
    await rig.pass(100);
    t.equal(keysOf(rig).length, 1, '100 ms are too short');
    await rig.pass(16 * 150);
    t.same(
      keysOf(rig).map((text) => text.replace(/^.*[",](.)"?$/, '$1')),
      [...ALL],
    );
    t.ok(keysOf(rig).every((text) => KEY.test(text)));
  });

  t.test(`${make}: what is no key is not pressed, nor are those beside it`, async (t) => {
    const rig = await talking(voice);
    const strings = [
      ...HOSTILE,
      ...fc.sample(fc.string({ unit: 'binary', minLength: 1 }), { numRuns: 500, seed: 5 }),
    ];
    for (const text of strings) {
      if (/^[0-9*#A-D]+$/.test(text)) continue;
      t.equal(rig.line.press(text), false, JSON.stringify(text));
    }
    await rig.pass(3_000);
    t.same(keysOf(rig), []);
    t.equal(rig.line.press('1'), true, 'and the next key is');
    await rig.pass(0);
    t.equal(keysOf(rig).length, 1);
  });
}

t.test('no key without a conversation, none after it, and not more than fit', async (t) => {
  const idle = new LineRig();
  t.equal(idle.line.press('1'), false);
  void idle.line.dial(TO);
  await idle.pass(0);
  t.equal(idle.line.press('1'), false, 'while it is dialled');
  const rig = await talking(GENERIC_VOICE);
  t.equal(rig.line.press('1'.repeat(65)), false);
  t.equal(rig.line.press('1'.repeat(64)), true);
  t.equal(rig.line.press('12'), false, 'behind as many');
  await rig.pass(400);
  const pressed = keysOf(rig).length;
  t.ok(pressed >= 2 && pressed <= 4);
  rig.calls = [];
  await rig.say('NO CARRIER');
  await rig.pass(5_000);
  t.equal(keysOf(rig).length, pressed, 'the rest is not pressed');
});
