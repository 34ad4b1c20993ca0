// Settings in the flash memory of a modem: carrier profiles, calls over LTE, contexts, radio mode.
import t from 'tap';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import { startModem } from '../fixtures/rack.ts';

t.test('a carrier profile is in effect after a restart, as is the switch of calls over LTE', async (t) => {
  const { modem, terminal } = await startModem(t);
  const ask = (command: string) => terminal.command(command);
  t.match(await ask('AT+QMBNCFG="List"'), /\+QMBNCFG: "List",0,1,1,"ROW_Generic_3GPP",0x0501081F,202307241/);
  t.match(await ask('AT+QMBNCFG="Select","VoLTE-ATT"'), /ERROR/, 'one is active');
  for (const command of ['AutoSel",0', 'Deactivate"', 'select","VoLTE-ATT"'])
    t.match(await ask(`AT+QMBNCFG="${command}`), /OK/);
  t.match(await ask('AT+QMBNCFG="List"'), /"List",1,1,0,"VoLTE-ATT"/, 'selected, not yet active');
  t.match(await ask('AT+QCFG="ims"'), /"ims",0,0/);
  t.match(await ask('AT+QMBNCFG="Select","nothing"'), /ERROR/);
  modem.play(parseFault({ kind: 'reset' }));
  t.match(await ask('AT+QMBNCFG="List"'), /"List",1,1,1,"VoLTE-ATT"/);
  t.match(await ask('AT+QCFG="ims"'), /"ims",0,1/, 'the profile switches them on');
  t.match(await ask('AT+QCFG="ims",2'), /OK/);
  t.match(await ask('AT+QCFG="ims"'), /"ims",2,1/);
  modem.play(parseFault({ kind: 'reset' }));
  t.match(await ask('AT+QCFG="ims"'), /"ims",2,0/);

  modem.play(parseFault({ kind: 'settings_lost' }));
  modem.play(parseFault({ kind: 'reset' }));
  t.match(await ask('AT+QCFG="ims"'), /"ims",0,0/);
  modem.play(parseFault({ kind: 'carrier_profiles', names: ['VoLTE-ATT'] }));
  t.notMatch(await ask('AT+QMBNCFG="List"'), /ROW_Generic/);
});

t.test('contexts survive a restart', async (t) => {
  const { modem, terminal } = await startModem(t);
  const ask = (command: string) => terminal.command(command);
  t.match(await ask('AT+CGDCONT?'), /\+CGDCONT: 1,"IPV4V6","simrack"/);
  t.match(await ask('AT+CGDCONT=2,"IPV4V6","ims"'), /OK/);
  t.match(await ask('AT+CGDCONT=1'), /OK/);
  modem.play(parseFault({ kind: 'reset' }));
  t.match(await ask('AT+CGDCONT?'), /\+CGDCONT: 2,"IPV4V6","ims","0\.0\.0\.0",0,0/);
  t.notMatch(await ask('AT+CGDCONT?'), /CGDCONT: 1/);
  t.match(await ask('AT+CGDCONT=17,"IP","x"'), /ERROR/);
});

t.test('the radio mode of a SIM7600', async (t) => {
  const { terminal } = await startModem(t, { makes: ['simcom'] });
  t.match(await terminal.command('AT+CNMP?'), /\+CNMP: 2/);
  t.match(await terminal.command('AT+CNMP=14'), /OK/);
  t.match(await terminal.command('AT+CNMP?'), /\+CNMP: 14/);
  t.match(await terminal.command('AT+CNMP=77'), /ERROR/);
});
