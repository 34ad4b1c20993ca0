// The operator's tools beside the daemon that runs, on 16 simulated modems.
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { personName } from '#shared/process/person-name.ts';
import { until } from '../../fixtures/until.ts';
import { ended, startToolRig } from './tool-rig.ts';

const STRANGER = '+12065559999';

const makes = ['quectel', 'simcom', 'huawei', 'generic'] as const;
const rig = await startToolRig(
  t,
  { modems: 16, makes, sendDelayMs: 0 },
  'sms: { limits: { per_destination: { per_day: 5 } } }',
);
let daemon = await rig.startDaemon();
const { plane, simulator, tool } = rig;
const heard = () => simulator.carrier.heard().map(({ to, body }) => `${to} ${body}`);
const [first] = simulator.modems;
const number = String(first?.number);

t.test('list shows every slot, aligned or as JSON', async (t) => {
  // A slot is registered some commands before its signal is known.
  await until('each signal', () =>
    simulator.modems.every(({ imei }) => typeof plane.slotOf(imei)?.signal_dbm === 'number'),
  );
  const table = await tool('list');
  t.match(table, { status: 0, stderr: '' });
  const lines = table.stdout.trim().split('\n');
  t.equal(lines.length, 17);
  t.match(lines[0], /^SLOT +STATE +CARRIER +SIGNAL +CALLS SET UP +NUMBER +MODEL +IMEI +ICCID +USB$/);
  for (const modem of simulator.modems) {
    const line = lines.find((each) => each.includes(modem.imei));
    t.match(line, new RegExp(`in service .* -\\d+ dBm .*${modem.identity.iccid} +${modem.usb.path}$`));
  }
  t.equal(new Set(lines.map((line) => line.indexOf('  in service'))).size, 2, 'columns are aligned');
  const slots = JSON.parse((await tool('list', '--json')).stdout) as Record<string, unknown>[];
  t.equal(slots.length, 16);
  t.match(slots[0], { slot: '1-1.1', state: 'registered', iccid: first?.identity.iccid });
});

t.test('the socket belongs to its user and group', async (t) => {
  const socket = statSync(join(rig.dataDir, 'operator.sock'));
  t.ok(socket.isSocket());
  t.equal(socket.mode & 0o777, 0o660);
  t.equal(statSync(rig.dataDir).mode & 0o777, 0o700, 'the folder is the gate');
});

t.test('at prints what the modem says; its last line decides', async (t) => {
  t.same(await tool('at', '1-1.1', 'AT+CSQ'), { status: 0, stdout: '+CSQ: 21,99\nOK\n', stderr: '' });
  t.match(await tool('at', '1-1.1', 'ati'), { status: 0, stdout: /^Quectel\nEC25\nRevision: \S+\nOK\n$/ });
  t.match(await tool('at', '1-1.1', 'AT+CREG?;+COPS?'), { stdout: /^\+CREG: \d,1.*\n\+COPS: .*\nOK\n$/ });
  t.match(await tool('at', '1-1.1', 'AT+NONE?'), { status: 1, stdout: 'ERROR\n', stderr: '' });
  const cme = await tool('at', '1-1.1', 'AT+COPS=1,2,"99999"', '--unsafe');
  t.match(cme, { status: 1, stdout: /^\+CME ERROR: \d+\n$/ });
});

t.test('a command that may change something needs --unsafe; one that takes the port fails', async (t) => {
  first?.clearCommandLines();
  const refused = async (command: string, ...flags: string[]) => {
    const { status, stdout, stderr } = await tool('at', '1-1.1', command, ...flags);
    t.match({ status, stdout }, { status: 1, stdout: '' }, command);
    return stderr;
  };
  t.match(await refused('AT+CSQ;+CMGD=1'), /^error: \+CMGD=1 may change settings.*--unsafe/);
  t.match(await refused('AT+CMGL=4'), /use "sms"/);
  t.match(await refused('AT+CMGS=20', '--unsafe'), /waits for a body; use "send"/);
  t.match(await refused('AT+CSQ;+CMGW="1"', '--unsafe'), /waits for a body/);
  t.match(await refused('ATD*99#', '--unsafe'), /out of command mode/);
  t.match(await refused('AT+CSQ;+cmgf=1', '--unsafe'), /\+CMGF=1 is never sent.*wrong number/);
  t.match(await refused('AT+CSQ\rAT+CMGD=1'), /one line of printable ASCII/);
  t.match(await refused('+CSQ'), /must begin with AT/);
  const given = (first?.commandLines ?? []).join(' ');
  t.notMatch(given, /CMGD=1|CMGS=20|CMGW|CMGF=1|\*99/, 'the modem saw none of it');
  t.match(await tool('at', '1-1.1', 'AT+CLIP=1', '--unsafe'), { status: 0, stdout: 'OK\n' });
});

t.test('a name that is wrong, a modem that is silent', async (t) => {
  t.match(await tool('at', '1-1.11', 'AT'), {
    status: 1,
    stderr: 'error: there is no slot "1-1.11"; did you mean',
  });
  t.match(await tool('at', 'cupboard', 'AT'), { status: 1, stderr: /the slots are 1-1\.1, 1-1\.2/ });
  t.match(await tool('at', '1-1.1', 'AT', '--timeout', '0'), {
    status: 1,
    stderr: /--timeout: must be a whole number/,
  });
  t.match(await tool('at', '1-1.1'), { status: 1, stderr: /missing required argument/ });
  const [, , , silent] = simulator.modems;
  silent?.play({ kind: 'not_reading' });
  const unanswered = await tool('at', String(silent?.usb.path), 'AT+CSQ', '--timeout', '1');
  silent?.clearFaults();
  t.match(unanswered, { status: 3, stderr: 'error: the modem gave no answer in 1 s' });
});

t.test('send works as for the control plane: outcome, limits, and once for each id', async (t) => {
  const sent = await tool('send', '1-1.1', STRANGER, 'Ünïcode 417209 💡');
  t.match(sent, { status: 0, stdout: /^accepted by the network \(reference \d+\)\n$/ });
  t.match(sent.stderr, /^id of this message: operator_[-\da-f]{36}\n$/);
  t.same(heard(), [`${STRANGER} Ünïcode 417209 💡`]);
  const again = ['send', '1-1.1', STRANGER, 'twice?', '--id', 'operator_12345678', '--json'];
  t.match(await tool(...again), {
    stdout: /"id":"operator_12345678","status":"accepted".*"is_repeat":false/,
    stderr: /^id of this message: operator_12345678\n$/,
  });
  const repeated = await tool(...again);
  t.match(repeated, { status: 0, stderr: /a repeat: nothing was sent now/ });
  t.match(JSON.parse(repeated.stdout), { status: 'accepted', is_repeat: true });
  const withId = ['--id', 'operator_12345678'];
  t.match(await tool('send', '1-1.1', STRANGER, 'another text', ...withId), {
    status: 1,
    stdout: '',
    stderr: /not sent: operator_12345678 belongs to another message \(another text/,
  });
  t.match(await tool('send', '1-1.1', '+12065550179', 'twice?', ...withId), {
    status: 1,
    stdout: '',
    stderr: /another message \(to another number\)/,
  });
  t.equal(heard().length, 2, 'the same id is sent once');
  const guess = createHash('sha256').update('twice?').digest('hex').slice(0, 8);
  const written = readFileSync(join(rig.dataDir, 'journal.log'), 'utf8');
  t.match(written, 'operator_12345678');
  t.notOk(written.includes(guess), 'the text cannot be found by guessing');
  await until('the control plane hears of both', () => plane.factsOf('sms_outcome').length === 2);
  first?.play({ kind: 'cms_error', code: 38, count: 1 });
  t.match(await tool('send', '1-1.1', STRANGER, 'no'), {
    status: 1,
    stdout: /^rejected: cms_38, class retry .*out of order/,
    stderr: /^id of this message: operator_/,
  });
  await tool('send', '1-1.2', STRANGER, 'four');
  await tool('send', '1-1.2', STRANGER, 'five');
  t.match(await tool('send', '1-1.1', STRANGER, 'six'), {
    status: 1,
    stderr: /rate_limited.*this recipient/,
  });
  t.match(await tool('send', '1-1.1', '12065559999', 'x'), {
    status: 1,
    stderr: /^error: .*must be a number such as \+12065550123\. Did you mean \+12065559999\?\n$/,
  });
  t.match(await tool('send', '1-1.99', STRANGER, 'x'), { status: 1, stderr: /^error: there is no slot/ });
  t.match(await tool('send', '1-1.1', '+12065550177', 'x'.repeat(1999)), {
    status: 1,
    stderr: /needs 14 segments. The limit is 10/,
  });
  t.equal(heard().length, 4);
});

t.test('ussd prints the answer, in every coding, and shows a menu', async (t) => {
  for (const slot of ['1-1.1', '1-1.2', '1-1.3', '1-1.4']) {
    const balance = 'Your balance is $12.34, good until 31.12.\n';
    t.same(await tool('ussd', slot, '*100#'), { status: 0, stdout: balance, stderr: '' }, slot);
  }
  t.match(await tool('ussd', '1-1.1', '*101#'), { status: 0, stdout: 'Баланс: 12,34 €\n' });
  const menu = await tool('ussd', '1-1.3', '*102#');
  t.match(menu, { status: 0, stdout: 'Simrack Mobile', stderr: /asked for a reply.*--reply/ });
  t.match(await tool('ussd', '1-1.1', '*102#', '--reply', '7,2'), {
    stdout: `Your number is ${number}\n`,
    stderr: '',
  });
  t.match(await tool('ussd', '1-1.1', '2'), { stdout: 'Unknown code\n' }, 'every dialogue was ended');
  t.match(await tool('ussd', '1-1.1', '*103#', '--timeout', '1'), {
    status: 3,
    stderr: /did not answer in 1 s/,
  });
  t.match(await tool('ussd', '1-1.1', '*104#'), { status: 1, stdout: '', stderr: /does not support/ });
  t.match(await tool('ussd', '1-1.1', 'rm -rf'), { status: 1, stderr: /must have 1 to 64 digits/ });
});

t.test('each change is in the log of the daemon, with the person and without secrets', async (t) => {
  const slot = '1-1.5';
  await tool('at', slot, 'AT+CSQ');
  await tool('sms', slot);
  await tool('at', slot, 'AT+CPIN="4711"');
  await tool('at', slot, 'AT+CSQ;+CLIP=1', '--unsafe');
  await tool('ussd', slot, '*100*4711#');
  await tool('ussd', slot, '*103#', '--timeout', '1');
  await tool('send', slot, '+12065550176', 'secret 4711', '--id', 'operator_audited1');
  const lines = (await tool('logs', '--json')).stdout
    .trim()
    .split('\n')
    .filter((line) => JSON.parse(line).msg === 'operator action' && JSON.parse(line).subject === slot);
  t.match(
    lines.map((line) => JSON.parse(line)),
    [
      { action: 'at', result: 'refused', why: 'refused', detail: { command: '+CPIN' } },
      { action: 'at', result: 'ok', detail: { command: '+CSQ;+CLIP', final: 'OK' } },
      { action: 'ussd', result: 'ok', detail: { code: '*100', replies: 0 } },
      { action: 'ussd', result: 'failed', why: 'unanswered', detail: { code: '*103' } },
      { action: 'send', result: 'ok', detail: { id: 'operator_audited1', status: 'accepted' } },
    ].map((entry) => ({ level: 30, actor: personName(), ...entry })),
  );
  t.equal(lines.length, 5, 'reads are no changes');
  t.notMatch(lines.join(), /4711|\+12065550176/);
});

t.test('sms shows storages and journal, and strangers cannot steer the terminal', async (t) => {
  plane.acknowledges = false;
  simulator.carrier.send({ from: STRANGER, to: number, body: 'red \u001b[31m alert' });
  await until('it is reported', () => plane.factsOf('sms_received').length === 1);
  const { stdout, status } = await tool('sms', '1-1.1');
  t.equal(status, 0);
  t.match(stdout, /^SM: \d+ of 50 places used\n/m);
  t.match(stdout, /^ME: \d+ of 255 places used\n/m);
  t.match(stdout, /journal: 1 not yet acknowledged by the control plane, 0 parts/);
  t.match(stdout, `${STRANGER}  `);
  t.notMatch(stdout, '\u001b');
  const json = JSON.parse((await tool('sms', '1-1.1', '--json')).stdout);
  t.match(json.waiting, [{ from: STRANGER, text: /red .*alert/ }]);
  plane.acknowledges = true;
});

t.test('logs shows the last lines, and follows', async (t) => {
  const text = await tool('logs');
  t.match(text, { status: 0, stdout: /^\d\d:\d\d:\d\d\.\d{3} info {2}started {2}/m, stderr: '' });
  t.notMatch(text.stdout, number);
  const json = (await tool('logs', '--json')).stdout.trim().split('\n');
  t.ok(json.every((line) => typeof JSON.parse(line).msg === 'string'));
  let output = '';
  const following = rig.toolWith(['logs', '--follow'], (child) => {
    child.stdout?.on('data', (chunk) => {
      output += String(chunk);
      if (/slot state.*state=lost/.test(output)) child.kill('SIGINT');
    });
  });
  await until('it follows', () => output.includes('started'));
  const last = simulator.modems[15];
  const path = String(last?.usb.path);
  last?.power.unplug();
  await following;
  last?.power.plugIn();
  t.match(output, new RegExp(`slot state.*slot=${path}.*state=lost`));
});

t.test('many tools at once, and a tool that is killed, do no harm', async (t) => {
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      rig.toolWith(['at', `1-1.${1 + (index % 3)}`, 'AT+CSQ'], () => undefined),
    ),
  );
  t.ok(answers.every(({ stdout }) => /^\+CSQ: \d+,99\nOK\n$/.test(stdout)));
  const killed = await rig.toolWith(['ussd', '1-1.2', '*103#'], (child) => {
    const [, second] = simulator.modems;
    second?.clearCommandLines();
    void second?.expectCommand(/CUSD=1/, { timeoutMs: 30_000 }).then(() => child.kill('SIGKILL'));
  });
  t.equal(killed.status, null);
  await simulator.modems[1]?.expectCommand(/CUSD=2/, { timeoutMs: 10_000 });
  const answer = await until('its dialogue has ended', async () => {
    const next = await tool('ussd', '1-1.2', '*100#');
    return next.status === 0 && next;
  });
  t.match(answer, { stdout: /^Your balance/ });
  t.match(await tool('at', '1-1.2', 'AT+CSQ'), { status: 0 });
});

t.test(
  'a message whose answer was lost with the daemon is asked for again, and not sent again',
  async (t) => {
    const sender = simulator.modems[4];
    const before = heard().length;
    sender?.play({ kind: 'slow_network', ms: 3000 });
    sender?.clearCommandLines();
    const restarted = sender?.expectCommand(/CMGS=/, { timeoutMs: 60_000 }).then(async () => {
      await ended(daemon, 'SIGKILL');
      sender.clearFaults();
      daemon = await rig.startDaemon();
    });
    const sent = await tool('send', String(sender?.usb.path), '+12065550178', 'once');
    t.match(sent, {
      status: 3,
      stdout: /^unknown: the message may have been sent/,
      stderr: /^id of this message: (operator_\S+)\n[\s\S]*trying again[\s\S]*--id \1 to see/,
    });
    await restarted;
    t.ok(heard().length <= before + 1);
  },
);

t.test('a daemon of another version, one that is gone, and a socket that may not be used', async (t) => {
  const { request } = await import('node:http');
  const socketPath = join(rig.dataDir, 'operator.sock');
  const answer = await new Promise<string>((resolve) => {
    const headers = { 'simrack-operator-api': '99' };
    request({ socketPath, method: 'POST', path: '/slots', headers }, (response) => {
      response.setEncoding('utf8').on('data', resolve);
    }).end();
  });
  t.match(JSON.parse(answer), {
    error: 'unreachable',
    message: /another version \(its operator API is 1, that of this command 99\)/,
  });
  if (process.getuid?.() !== 0) {
    chmodSync(socketPath, 0o000);
    t.match(await tool('list'), { status: 4, stderr: /no permission to use it/ });
  }
  await ended(daemon, 'SIGTERM');
  t.notOk(existsSync(socketPath), 'a daemon that stops takes its socket away');
  t.match(await tool('logs'), { status: 4, stderr: /no daemon uses .*journalctl/ });
});

t.test('a port that does not exist is named in the log and by the doctor', async (t) => {
  const port = '/dev/ttyUSB9';
  const rig = await startToolRig(t, { modems: 0 }, `slots: [{ name: attic, port: ${port} }]`);
  const daemon = await rig.startDaemon();
  await until('the log names it', async () =>
    (await rig.tool('logs')).stdout.includes(`failed to open the port: ${port} does not exist`),
  );
  const report = await rig.toolWith(['doctor'], () => undefined);
  t.match(report.stdout, `no modem found: ${port} does not exist`);
  t.match(report.stdout, `no modem in this slot: ${port} does not exist`);
  await ended(daemon, 'SIGTERM');
});
