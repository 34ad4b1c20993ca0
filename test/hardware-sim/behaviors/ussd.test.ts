// USSD codes over a real terminal, in every form that modems give the answers.
import t from 'tap';
import { startModem } from '../fixtures/rack.ts';

t.test('the OK comes first, then the answer; a menu goes on, and ends', async (t) => {
  const { modem, terminal } = await startModem(t);
  const asked = async (command: string): Promise<string> => {
    const answer = await terminal.command(command);
    return answer + (await terminal.expect(/\+CUSD: [\s\S]*?\d\r\n/));
  };
  t.equal(await asked('AT+CUSD=1,"*105#",15'), '\r\nOK\r\n\r\n+CUSD: 2\r\n');
  t.match(await asked('AT+CUSD=1,"*102#",15'), /\+CUSD: 1,"Simrack Mobile\n1 Balance\n2 My number",15/);
  t.match(await asked('AT+CUSD=1,"2",15'), `+CUSD: 0,"Your number is ${modem.number}",15`);
  t.match(await asked('AT+CUSD=1,"*102#",15'), '+CUSD: 1,');
  await terminal.command('AT+CUSD=2');
  t.match(await asked('AT+CUSD=1,"2",15'), '+CUSD: 0,"Unknown code",15', 'the menu was left');
  t.match(await asked('AT+CUSD=1,"*101#",15'), /\+CUSD: 0,"0411[0-9A-F]+",72/, 'UCS2');
  modem.play({ kind: 'denied' });
  t.match(await terminal.command('AT+CMEE=1;+CUSD=1,"*100#",15'), '+CME ERROR: 30');
});

t.test('Huawei takes and gives packed septets', async (t) => {
  const { terminal } = await startModem(t, { makes: ['huawei'] });
  // *100# packed, from gammu's documentation.
  await terminal.command('AT+CUSD=1,"AA180C3602",15');
  t.match(await terminal.expect(/\+CUSD: .*\r\n/), /\+CUSD: 0,"D9775D[0-9A-F]+",15/);
  t.match(
    await terminal.command('AT+CMEE=1;+CUSD=1,"*100#",15'),
    '+CME ERROR: 50',
    'characters are not taken',
  );
});
