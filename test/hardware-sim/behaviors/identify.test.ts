// A modem's answers about itself, its SIM and its network, over a real terminal.
import t from 'tap';
import { quietTerminal, startModem } from '../fixtures/rack.ts';

t.test('identifies itself like a Quectel EC25', async (t) => {
  const { modem, terminal } = await startModem(t);
  const { imei, iccid, imsi, number } = modem.identity;
  t.match(await terminal.command('ATI'), /^\r\nQuectel\r\nEC25\r\nRevision: \S+\r\n\r\nOK\r\n$/);
  t.equal(await terminal.command('AT+CGSN'), `\r\n${imei}\r\n\r\nOK\r\n`);
  t.equal(await terminal.command('AT+CIMI'), `\r\n${imsi}\r\n\r\nOK\r\n`);
  t.equal(await terminal.command('AT+CCID'), `\r\n+CCID: ${iccid}\r\n\r\nOK\r\n`);
  t.equal(await terminal.command('AT+QCCID'), `\r\n+QCCID: ${iccid}F\r\n\r\nOK\r\n`);
  t.equal(await terminal.command('AT+CNUM'), `\r\n+CNUM: "","${number}",145\r\n\r\nOK\r\n`);
});

t.test('knows the whole set of commands that other programs send', async (t) => {
  const { terminal } = await startModem(t);
  const commands = `ATX4 ATZ ATE0 AT&F ATE0 AT&C1 AT&D2 ATH AT+GCAP AT+CMEE=1 AT+CSCS=? AT+CSCS? AT+CFUN? AT+CPIN?
    AT+CPINR AT+CREG=? AT+CGREG? AT+CEREG? AT+CSQ AT+CESQ AT+CSCA? AT+CSMS=? AT+CSMS=0 AT+CMGF=? AT+CPMS=? AT+CPMS?
    AT+CNMI=? AT+CNMI=2,1,0,1,0 AT+CMMS=2 AT+CMGL=4 AT+CMGD=? AT+CMGW=? AT+CMSS=? AT+CLCK="SC",2 AT+CLIP=1
    AT+CLIR=0 AT+COLP=0 AT+CRC=1 AT+CCWA=1 AT+CSSN=0,0 AT+CLCC AT+CLCC=? AT+CHUP AT+CHUP=? AT+CHLD=? AT+VTD=0
    AT+CUSD=1 AT+CUSD=? AT+CBC AT+CCLK? AT+CTZU=1 AT+CGATT? AT+CGDCONT=1,"IP","apn" AT+IFC=2,2 AT+CPBS=? AT+CPBR=?
    AT+CMUT? AT+CLVL? AT+CLVL=? AT+QINDCFG="csq",1,0 AT+CMGF=1;+CMGF=0`;
  for (const command of commands.split(/\s+/))
    t.match(await terminal.command(command), /\r\nOK\r\n$/, command);
  t.equal(await terminal.command('AT+MODE=2'), '\r\nERROR\r\n');
  t.equal(await terminal.command('ATD+15551234567'), '\r\nNO CARRIER\r\n', 'data calls find no far end');
});

t.test('names the operator in the form that was asked for', async (t) => {
  const { terminal } = await startModem(t);
  t.match(await terminal.command('AT+COPS?'), /\+COPS: 0,0,"Simrack Mobile",7\r\n/);
  t.match(await terminal.command('AT+COPS=3,2;+COPS?'), /\+COPS: 0,2,"00101",7\r\n/);
});

t.test('codes strings in UCS-2 when set so', async (t) => {
  const { terminal } = await startModem(t);
  await terminal.command('AT+CSCS="UCS2"');
  t.match(
    await terminal.command('AT+CSCA?'),
    /\+CSCA: "002B00310032003000360035003500350030003000300030",145/,
  );
});

t.test('the two ports have settings of their own', async (t) => {
  const { modem, terminal } = await startModem(t);
  const second = await quietTerminal(t, modem.portPaths.at2);
  await terminal.command('AT+CMGF=1;+CPMS="ME"');
  t.match(await second.command('AT+CMGF?;+CPMS?'), /\+CMGF: 0\r\n.*\+CPMS: "SM",/s);
});

t.test('registration follows the faults, with reports when asked for', async (t) => {
  const { modem, terminal } = await startModem(t);
  t.match(await terminal.command('AT+CREG=2;+CREG?'), /\+CREG: 2,1,"1A2B","01A2B3C4",7\r\n/);
  modem.play({ kind: 'not_registered' });
  await terminal.expect('\r\n+CREG: 2\r\n');
  t.match(await terminal.command('AT+CSQ;+COPS?'), /\+CSQ: 99,99\r\n.*\+COPS: 0\r\n/s);
  t.equal(modem.state, 'searching');
  modem.clearFaults();
  await terminal.expect('\r\n+CREG: 1,"1A2B","01A2B3C4",7\r\n');
  modem.play({ kind: 'denied' });
  t.match(await terminal.command('AT+CREG?;+CEREG?'), /\+CREG: 2,3\r\n.*\+CEREG: 0,3/s);
  modem.clearFaults();
  modem.play({ kind: 'volte_only' });
  t.match(await terminal.command('AT+CREG?;+CEREG?'), /\+CREG: 2,3\r\n.*\+CEREG: 0,1/s);
  t.equal(modem.state, 'registered');
  await terminal.command('AT+CFUN=4');
  t.match(await terminal.command('AT+CREG?'), /\+CREG: 2,0\r\n/);
  t.equal(modem.state, 'radio_off');
});

t.test('a PIN opens the card, three wrong ones close it', async (t) => {
  const { modem, terminal } = await startModem(t);
  modem.play({ kind: 'sim', state: 'pin' });
  await terminal.command('AT+CMEE=1');
  t.match(await terminal.command('AT+CPIN?'), /\+CPIN: SIM PIN\r\n/);
  t.match(await terminal.command('AT+CIMI'), /\+CME ERROR: 11/);
  t.match(await terminal.command('AT+CMGL=4'), /\+CMS ERROR: 311/);
  t.match(await terminal.command('AT+CPIN="0000"'), /\+CME ERROR: 16/);
  t.match(await terminal.command('AT+QPINC?'), /\+QPINC: "SC",2,10/);
  t.match(await terminal.command('AT+CPIN="1234"'), /OK/);
  t.match(await terminal.command('AT+CPIN?'), /\+CPIN: READY/);
  t.same(modem.faults.list(), []);
  modem.play({ kind: 'sim', state: 'pin' });
  for (let attempt = 0; attempt < 3; attempt++) await terminal.command('AT+CPIN="9999"');
  t.match(await terminal.command('AT+CPIN?'), /\+CPIN: SIM PUK/);
  t.match(await terminal.command('AT+CPIN="12345678","4321"'), /OK/);
  t.equal(modem.state, 'registered');
});

t.test('a missing card answers its error', async (t) => {
  const { modem, terminal } = await startModem(t);
  modem.play({ kind: 'sim', state: 'not_inserted' });
  await terminal.command('AT+CMEE=1');
  t.match(await terminal.command('AT+CPIN?'), /\+CME ERROR: 10/);
  t.equal(modem.state, 'no_sim');
});
