// Network codes as people read them.
import t from 'tap';
import { carriersNamed, isCarrierCode, shortCarrier, shownCarrier } from '#shared/carriers/carrier-name.ts';
import { US_NETWORKS } from '#shared/carriers/us-networks.ts';

t.test('a known code has its name, and any other text stays', async (t) => {
  t.equal(shownCarrier('310260'), 'T-Mobile (310260)');
  t.equal(shownCarrier('311480'), 'Verizon (311480)');
  t.equal(shownCarrier('311485'), 'Verizon (311485)', 'within a range');
  t.equal(shownCarrier('310410'), 'AT&T (310410)');
  t.equal(shownCarrier('00101'), '00101', 'the test network');
  t.equal(shownCarrier('26201'), '26201', 'abroad');
  t.equal(shownCarrier('constructor'), 'constructor');
  t.equal(shortCarrier('310260'), 'T-Mobile');
  t.same(['310260', '00101', 'T-Mobile', '3102600', ''].map(isCarrierCode), [
    true,
    true,
    false,
    false,
    false,
  ]);
});

t.test('an operator may name a carrier', async (t) => {
  t.ok(carriersNamed('t-mobile').includes('310260'));
  t.ok(carriersNamed('t-mobile').includes('t-mobile'), 'a modem may report a name');
  t.same(carriersNamed('00101'), ['00101']);
  t.notOk(carriersNamed('verizon').includes('310260'));
});

t.test('the table has codes of the USA only, each with one name', async (t) => {
  t.ok(US_NETWORKS.size > 150);
  for (const code of US_NETWORKS.keys()) t.match(code, /^31[0-6]\d{3}$/);
});
