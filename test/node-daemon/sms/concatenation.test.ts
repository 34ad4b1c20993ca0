// Parts of one message: out of order, repeated, missing, and of another message with the same reference.
import t from 'tap';
import { groupKey, joinParts, type MessagePart, partPlaceOf } from '#node-daemon/sms/concatenation.ts';

const part = (number: number, text: string, change: Partial<MessagePart> = {}): MessagePart => ({
  reference: 7,
  referenceBits: 8,
  total: 3,
  part: number,
  from: '+15550000012',
  text,
  sentAt: null,
  receivedAt: `2026-11-21T08:00:0${number}.000Z`,
  ...change,
});

t.test('parts are joined in their order, whatever the order they came in', async (t) => {
  const message = joinParts([part(3, 'c'), part(1, 'a'), part(2, 'b')]);
  t.match(message, { text: 'abc', partial: false, receivedAt: '2026-11-21T08:00:01.000Z' });
});

t.test('a message without all of its parts is partial', async (t) => {
  t.match(joinParts([part(3, 'c'), part(1, 'a')]), { text: 'ac', partial: true });
});

t.test('a surrogate pair that was cut between parts is whole again', async (t) => {
  const message = joinParts([part(2, '\ude00', { total: 2 }), part(1, '\ud83d', { total: 2 })]);
  t.equal(message.text, '😀');
});

t.test('the earliest time stamp counts, zones respected; none where one of them is invalid', async (t) => {
  const early = part(1, 'a', { sentAt: '2026-11-21T08:30:00+01:00' });
  const late = part(2, 'b', { sentAt: '2026-11-21T08:00:00+00:00' });
  t.equal(joinParts([late, early]).sentAt, '2026-11-21T08:30:00+01:00');
  t.equal(joinParts([late, early, part(3, 'c')]).sentAt, null);
});

t.test('a message came after the earliest known time of its parts', async (t) => {
  const early = part(1, 'a', { arrivedAfter: '2026-11-21T07:00:00.000Z' });
  const late = part(2, 'b', { arrivedAfter: '2026-11-21T08:00:00.000Z' });
  t.equal(joinParts([late, early]).arrivedAfter, '2026-11-21T07:00:00.000Z');
  t.equal(joinParts([late, early, part(3, 'c')]).arrivedAfter, undefined);
});

t.test('a part is new, repeated, or of another message', async (t) => {
  const waiting = [part(1, 'a'), part(3, 'c')];
  t.equal(partPlaceOf(waiting, part(2, 'b')), 'new');
  t.equal(partPlaceOf(waiting, part(1, 'a')), 'repeated');
  t.equal(partPlaceOf(waiting, part(1, 'x')), 'other');
});

t.test('sender, reference, its width, total and SIM distinguish messages', async (t) => {
  const keys = [
    groupKey('1', part(1, 'a')),
    groupKey('2', part(1, 'a')),
    groupKey('1', part(1, 'a', { from: '+1' })),
    groupKey('1', part(1, 'a', { reference: 8 })),
    groupKey('1', part(1, 'a', { referenceBits: 16 })),
    groupKey('1', part(1, 'a', { total: 4 })),
  ];
  t.equal(new Set(keys).size, keys.length);
  t.equal(groupKey('1', part(1, 'a')), groupKey('1', part(2, 'b')));
});
