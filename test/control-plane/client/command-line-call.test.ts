// `npx simrack dial` as a process of its own: a call that is answered, recorded, and ended by the far end.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createRig } from '../../fixtures/rig.ts';
import { runProgram } from '../../fixtures/run-program.ts';
import { temporaryFolder } from '../../fixtures/started-stack.ts';
import { FAR_END, telephone } from '../../fixtures/telephone.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

t.test('a call is dialled, recorded as WAVE, and its end is told', async (t) => {
  const { url, line, token } = await telephone(t, rig);
  const folder = temporaryFolder(t);
  const recording = join(folder, 'heard.wav');
  const calling = runProgram('simrack', ['dial', FAR_END, '--record', recording, '--json'], {
    ...{ SIMRACK_URL: url, SIMRACK_TOKEN: token, XDG_CONFIG_HOME: folder },
  });
  const call = await until('the call', () => line.calls[0], 30_000);
  line.answer(call.call_id);
  const media = await until('the media link', () => line.media, 30_000);
  const heard = Buffer.alloc(640, 9);
  await until('some audio', () => {
    media.capture(heard);
    return existsSync(recording) && statSync(recording).size >= 44 + 10 * heard.length;
  });
  line.end(call, { reason: 'remote_hangup', cause: 16 });
  const called = await calling;
  t.equal(called.status, 0, called.stderr);
  t.match(JSON.parse(called.stdout), {
    ...{ caller: FAR_END, answered: true, end: { kind: 'call_ended', cause: 16 } },
  });
  const wave = readFileSync(recording);
  t.equal(wave.toString('latin1', 0, 4), 'RIFF');
  t.equal(wave.readUInt32LE(40), wave.length - 44, 'a WAVE with the right size');
  t.same(wave.subarray(44, 44 + heard.length), heard);
});
