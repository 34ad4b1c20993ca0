// What the SIM's lines say, and the lines of message storage.
import t from 'tap';
import { findProfile } from '#node-daemon/modem/profiles/find-profile.ts';
import { iccidOf, ownNumberOf, simStateOf } from '#node-daemon/modem/sim-card.ts';
import { digestOf, parseList, parseRead, parseStorages } from '#node-daemon/modem/sms-storage.ts';

t.test('the state of the SIM', async (t) => {
  t.equal(simStateOf('+CPIN: READY'), 'ready');
  t.equal(simStateOf('+CPIN: SIM PIN2'), 'ready', 'locks nothing that messages need');
  for (const state of ['SIM PIN', 'SIM PUK', 'PH-SIM PIN', 'PH-NET PIN']) {
    t.equal(simStateOf(`+CPIN: ${state}`), 'locked', state);
  }
  t.equal(simStateOf('+CPIN: NOT INSERTED'), 'absent');
  t.equal(simStateOf('+CPIN: NOT READY'), 'busy');
});

t.test('the ICCID in each form in which modems tell it', async (t) => {
  t.equal(iccidOf('+CCID: 8901260222193590037F'), '8901260222193590037');
  t.equal(iccidOf('+QCCID: 89012602221935900371'), '89012602221935900371');
  t.equal(iccidOf('+CCID: "898600710000000012"'), '898600710000000012');
  t.equal(iccidOf('8901260222193590037'), '8901260222193590037');
  t.equal(iccidOf('+CRSM: 144,0,"981062202291530930F7"', true), '8901260222193590037', 'as EF-ICCID has it');
  t.equal(iccidOf('+CCID: '), undefined);
  t.equal(iccidOf('+CRSM: 106,130', true), undefined);
});

t.test("the card's own number is E.164 or nothing", async (t) => {
  t.equal(ownNumberOf('+CNUM: "own","+12065550100",145'), '+12065550100');
  t.equal(ownNumberOf('+CNUM: ,"12065550100",145'), '+12065550100');
  for (const line of ['+CNUM: ,"2065550100",129', '+CNUM: ,"",129', '+CNUM:'])
    t.equal(ownNumberOf(line), undefined, line);
});

t.test('storages: all parts of the union are swept, modem memory receives first', async (t) => {
  t.same(parseStorages('+CPMS: ("SM","ME","MT"),("SM","ME"),("SM","ME")'), {
    readable: ['SM', 'ME'],
    receiving: ['ME', 'SM'],
  });
  t.same(parseStorages('+CPMS: ("ME","SM","SR","BM"),("ME","SM"),("SM")'), {
    readable: ['ME', 'SM', 'SR'],
    receiving: ['SM'],
  });
  t.same(parseStorages('+CPMS: ("MT"),("MT"),("MT")'), { readable: ['MT'], receiving: ['MT'] });
  t.same(parseStorages(''), { readable: ['SM'], receiving: ['SM'] });
});

t.test('lists and reads give received messages only', async (t) => {
  const listed = parseList([
    { line: '+CMGL: 3,0,,24', body: '0791' },
    { line: '+CMGL: 4,1,"x",24', body: '0792' },
    { line: '+CMGL: 5,2,,24', body: '0793' },
    { line: '+CMGL: 6,3,,24', body: '0794' },
    { line: '+CMGL: 7,0,,24' },
  ]);
  t.same(listed, [
    { index: 3, unread: true, pdu: '0791' },
    { index: 4, unread: false, pdu: '0792' },
  ]);
  t.same(parseRead(9, [{ line: '+CMGR: 0,,24', body: '0791' }]), { index: 9, unread: true, pdu: '0791' });
  t.equal(parseRead(9, []), undefined);
  t.equal(parseRead(9, [{ line: '+CMGR: 0,,0' }]), undefined);
});

t.test('the identity of a PDU does not hang on the case of its digits', async (t) => {
  t.equal(digestOf('07ab'), digestOf('07AB'));
  t.not(digestOf('07AB'), digestOf('07AC'));
});

t.test('a modem is known by what it says of itself', async (t) => {
  t.equal(findProfile(['Quectel', 'EC25', 'Revision: EC25AFFAR07A08M4G']).name, 'Quectel EC2x');
  t.equal(findProfile(['Acme', 'Rack 1']).name, 'generic 3GPP');
  t.equal(findProfile([]).name, 'generic 3GPP');
});
