// 64 numbers and their calls through one process of `simrack bridge`: each caller hears its own bot, and each bot its own caller.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { FRAME_BYTES } from '#shared/voice/media.ts';
import { botServer } from '../../../fixtures/agents/bot-server.ts';
import { commandLine } from '../../../fixtures/agents/command-line.ts';
import { subscribeInStore } from '../../../fixtures/agents/subscribed.ts';
import { ScriptedLine } from '../../../fixtures/nodes/scripted-line.ts';
import type { ScriptedMedia } from '../../../fixtures/nodes/scripted-media.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { until } from '../../../fixtures/until.ts';

const CALLS = 64;
const WAIT_MS = 90_000;
const ALL = Array.from({ length: CALLS }, (_, index) => index);
const rig = await createRig();

const frameOf = (value: number): Buffer => Buffer.alloc(FRAME_BYTES, value);

t.test('64 calls at once, and one of their bots dies', async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  const line = new ScriptedLine(url);
  const slots = ALL.map((index) => slotAt(index + 1));
  line.node = await rig.connect(t, url, { journalId: 'journal-1', slots, onCommand: line.onCommand });
  const tokens: string[] = [];
  for (const [index, { number }] of slots.entries()) {
    const address = `0x${String(index).padStart(12, '0')}` as const;
    tokens.push((await subscribeInStore(databaseUrl, { address }, String(number))).token);
  }
  // Each bot says what it hears, 100 higher.
  const bots = await botServer(t, (socket) =>
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary && data[0] !== 0) socket.send(Buffer.alloc(FRAME_BYTES, Number(data[0]) + 100));
    }),
  );
  const simrack = commandLine(t, url);
  const file = join(simrack.folder, 'tokens');
  writeFileSync(file, tokens.join('\n'));
  let said = '';
  let stop: () => void = () => undefined;
  const ran = simrack.start(['bridge', '--raw', bots.url, '--tokens', file], (child) => {
    stop = () => child.kill('SIGTERM');
    child.stderr?.on('data', (chunk) => {
      said += String(chunk);
    });
  });
  t.teardown(() => stop());
  await until('all wait', () => said.split('waiting for calls').length > CALLS, WAIT_MS);
  const calls = slots.map(({ iccid }, index) =>
    line.ring(`+1310555${String(index).padStart(4, '0')}`, `call-${index}-x`, iccid),
  );
  const medias = new Map<number, ScriptedMedia>();
  await Promise.all(
    ALL.map(async (index) => medias.set(index, await line.mediaOf(String(calls[index]?.call_id)))),
  );
  await until(
    'each caller hears its bot',
    () => {
      for (const [index, media] of medias) media.capture(frameOf(index + 1));
      return ALL.every((index) => medias.get(index)?.heard.includes(index + 101) === true);
    },
    WAIT_MS,
  );
  for (const [index, media] of medias) {
    const others = media.heard.filter((octet) => octet !== 0 && octet !== index + 101);
    t.equal(others.length, 0, `call ${index} hears no other bot`);
  }
  t.equal(bots.bots.length, CALLS);
  bots.bots[7]?.drop();
  await until('one is hung up', () => line.calls.length === CALLS - 1, WAIT_MS);
  await until('its words', () => said.includes('is gone (1006'), WAIT_MS);
  t.notMatch(said, /the call ended/);
  for (const call of line.calls) line.end(call, { reason: 'remote_hangup', cause: 16 });
  await until(
    'all have ended',
    () => said.split('the call ended: the far end hung up').length === CALLS,
    WAIT_MS,
  );
  stop();
  const lines = (await ran).stdout
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text) as { to: string; bot_connected: boolean });
  t.same(lines.map(({ to }) => to).sort(), slots.map(({ number }) => number).sort());
  t.ok(lines.every(({ bot_connected: isConnected }) => isConnected));
});
