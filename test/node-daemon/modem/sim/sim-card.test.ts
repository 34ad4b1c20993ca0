// The meaning of the SIM's lines, and of the lines of message storage.
import t from 'tap';
import { iccidOf, ownNumberOf, simStateOf } from '#node-daemon/modem/sim/sim-card.ts';
import {
  parseList,
  parseRead,
  parseStorages,
  pduDigestOf,
} from '#node-daemon/modem/sms/storage/sms-storage.ts';

t.test('the state of the SIM', async (t) => {
  t.same(simStateOf('+CPIN: READY'), { kind: 'ready' });
  t.same(simStateOf('+CPIN: SIM PIN2'), { kind: 'ready' }, 'locks nothing that messages need');
  const locks = {
    'SIM PIN': 'sim_pin',
    'SIM PUK': 'sim_puk',
    'PH-SIM PIN': 'ph_sim_pin',
    'PH-NET PIN': 'ph_net_pin',
    'PH-NETSUB PUK': 'ph_netsub_puk',
  };
  for (const [state, reason] of Object.entries(locks)) {
    t.same(simStateOf(`+CPIN: ${state}`), { kind: 'locked', reason });
  }
  t.same(simStateOf('+CPIN: NOT INSERTED'), { kind: 'absent', reason: 'sim_absent' });
  t.same(simStateOf('+CPIN: NOT READY'), { kind: 'busy' });
});

t.test('the ICCID in each form in which modems report it', async (t) => {
  t.equal(iccidOf('+CCID: 8901260222193590037F'), '8901260222193590037');
  t.equal(iccidOf('+QCCID: 89012602221935900371'), '89012602221935900371');
  t.equal(iccidOf('+CCID: "898600710000000012"'), '898600710000000012');
  t.equal(iccidOf('8901260222193590037'), '8901260222193590037');
  t.equal(iccidOf('+CRSM: 144,0,"981062202291530930F7"', true), '8901260222193590037', 'as EF-ICCID has it');
  t.equal(iccidOf('+CCID: 98109800221239850073'), '89018900222193580037', 'swapped nibbles');
  t.equal(iccidOf('^ICCID: 981062202291531930F7'), '8901260222193591037', 'with the filler among them');
  t.equal(iccidOf('+CCID: '), undefined);
  t.equal(iccidOf('+CCID: FFFFFFFFFFFFFFFFFFFF'), undefined, 'an empty card');
  t.equal(iccidOf('+CRSM: 106,130', true), undefined);
});

t.test("the card's own number is E.164 or nothing", async (t) => {
  t.equal(ownNumberOf('+CNUM: "own","+12065550100",145'), '+12065550100');
  t.equal(ownNumberOf('+CNUM: ,"12065550100",145'), '+12065550100');
  for (const line of ['+CNUM: ,"2065550100",129', '+CNUM: ,"",129', '+CNUM:'])
    t.equal(ownNumberOf(line), undefined, line);
});

t.test('storages: all parts of the union are swept, the card receives first', async (t) => {
  t.same(parseStorages('+CPMS: ("SM","ME","MT"),("SM","ME"),("SM","ME")'), {
    readable: ['SM', 'ME'],
    receiving: ['SM', 'ME'],
  });
  t.same(parseStorages('+CPMS: ("ME","SM","SR","BM"),("ME","SM"),("SM")'), {
    readable: ['ME', 'SM', 'SR'],
    receiving: ['SM'],
  });
  t.same(
    parseStorages('+CPMS: ("SM","ME","SM_P","ME_P","MT"),("SM","ME","SM_P","ME_P","MT"),("SM","ME")')
      .readable,
    ['SM', 'ME'],
    'none twice under two names',
  );
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

t.test('the identity of a PDU does not depend on the case of its digits', async (t) => {
  t.equal(pduDigestOf('07ab'), pduDigestOf('07AB'));
  t.not(pduDigestOf('07AB'), pduDigestOf('07AC'));
});
