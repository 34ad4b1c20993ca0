// Numbers that may be sold.
import t from 'tap';
import { isSellable } from '#control-plane/domain/sellable-number.ts';

t.test('US mobile numbers are sellable, others are not', (t) => {
  for (const number of ['+12065550123', '+12065550001', '+14155552671', '+17875550100', '+16715550100'])
    t.equal(isSellable(number), true, number);
  for (const number of [
    '+10000000000',
    '+12061110000',
    '+15555550100',
    '+19115550100',
    '+1206555',
    '+18005550100',
    '+19005550100',
    '+15005550100',
    '+18765550100',
    '+16135550100',
    '+447700900123',
    // The premium exchange, and directory assistance.
    '+12069760123',
    '+12129765551',
    '+17879765551',
    '+12065551212',
    '',
    'not a number',
    '12065550123',
  ])
    t.equal(isSellable(number), false, number);
  t.end();
});
