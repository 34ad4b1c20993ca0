// Every bot of the matrix in two calls: connected by the line that the docs show, it hears, speaks, is interrupted, gets and presses keys,
// and hangs up; in the second call the far end does.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import t from 'tap';
import type { ConnectBot } from '#control-plane/client/bridge/bot.ts';
import { addBotOptions, type BotOptions, botOf } from '#control-plane/client/commands/bot-options.ts';
import { FRAME_BYTES } from '#shared/voice/media.ts';
import { openAiBot } from '../../../fixtures/agents/bots/openai-bot.ts';
import {
  pipecatVonageBot,
  programBot,
  rawBot,
  ultravoxBot,
  vapiBot,
} from '../../../fixtures/agents/bots/plain-bots.ts';
import type { PlayedBot, StartBot } from '../../../fixtures/agents/bots/played-bot.ts';
import { BOT_ROWS, type BotId, type BotRow } from '../../../fixtures/agents/bots/rows.ts';
import {
  elevenLabsBot,
  pipecatTwilioBot,
  tenBot,
  twilioSdkBot,
} from '../../../fixtures/agents/bots/twilio-bots.ts';
import { bridged } from '../../../fixtures/agents/bridged.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { temporaryFolder } from '../../../fixtures/temporary-folder.ts';
import { until } from '../../../fixtures/until.ts';

const rig = await createRig();

/** LiveKit's agent is a program of its own: see livekit.test.ts. */
const BOTS: Readonly<Record<Exclude<BotId, 'livekit'>, StartBot>> = {
  openai: openAiBot,
  twilio: twilioSdkBot,
  'pipecat-twilio': pipecatTwilioBot,
  'pipecat-vonage': pipecatVonageBot,
  ten: tenBot,
  elevenlabs: elevenLabsBot,
  ultravox: ultravoxBot,
  vapi: vapiBot,
  raw: rawBot,
  program: programBot,
};

/** Follows a row's line to the letter, but for the address and the folder of its files. */
function connectionOf({ line, files = {} }: BotRow, { address, env = {} }: PlayedBot): ConnectBot {
  const folder = join(temporaryFolder(t), 'files');
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const [program, command, ...words] = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );
  t.same([program, command], ['simrack', 'bridge']);
  const args = words.map((word) => {
    if (/^(wss?|https?):|^\.\//.test(word)) return address;
    return word.startsWith('@') ? `@${join(folder, word.slice(1))}` : word;
  });
  const parsed = addBotOptions(new Command('bridge')).exitOverride().parse(args, { from: 'user' });
  const connection = botOf(parsed.args[0], parsed.opts<BotOptions>(), {
    env: { ...process.env, ...env },
    authToken: env['TWILIO_AUTH_TOKEN'],
    isOptional: false,
  });
  if (connection === undefined) throw new Error('the line names no bot');
  return connection;
}

let connect: ConnectBot;
const phone = await bridged(t, rig, (...given) => connect(...given));

/** Calls that have ended before. */
let ended = 0;
const end = () => {
  ended += 1;
  return phone.end(ended - 1);
};

for (const row of BOT_ROWS.filter(({ id }) => id !== 'livekit')) {
  await t.test(`${row.id}: ${row.line}`, async (t) => {
    const { id, lacks = {} }: BotRow = row;
    const bot = await BOTS[id as keyof typeof BOTS](t);
    connect = connectionOf(row, bot);

    const { call, media } = await phone.ring();
    const inCall = await bot.call(0);
    await until('it hears', () => {
      media.capture(Buffer.alloc(FRAME_BYTES, 1));
      return inCall.hears();
    });
    // Otherwise all of it is heard before the bot hangs up.
    inCall.speak('interrupts' in lacks ? 1_000 : 10_000);
    await until('half a second of it is heard', () => {
      media.capture();
      return media.frames.length > 25;
    });
    t.ok(media.heard.some((octet) => octet !== 0));

    if (!('interrupts' in lacks)) {
      inCall.interrupt();
      await until('the node gets a clear', () => media.texts.some(({ type }) => type === 'clear'));
      const heard = media.frames.length;
      for (let count = 0; count < 20; count += 1) media.capture();
      inCall.speak(100);
      await until('the next words are heard', () => {
        media.capture();
        return media.frames.length >= heard + 4;
      });
      t.ok(
        media.frames.length <= heard + 6,
        `${media.frames.length - heard} frames after it was interrupted`,
      );
    }
    if (!('getsKeys' in lacks)) {
      for (const digit of ['4', '#']) media.say({ type: 'dtmf', digit });
      await until('it gets keys', () => inCall.keys() === '4#');
    }
    if (!('pressesKeys' in lacks)) {
      inCall.press('12#');
      await until('keys are pressed', () => media.texts.some(({ type }) => type === 'dtmf'));
      t.match(
        media.texts.find(({ type }) => type === 'dtmf'),
        { digits: '12#' },
      );
    }
    const hungUp = phone.node.commands('hang_up').length;
    if ('hangsUp' in lacks) phone.line.end(call, { reason: 'remote_hangup', cause: 16 });
    else inCall.hangUp();
    await until('the call has ended', () => {
      media.capture();
      return 'hangsUp' in lacks || phone.node.commands('hang_up').length > hungUp;
    });
    t.match(await end(), { connected: true });

    const { call: second } = await phone.ring();
    const next = await bot.call(1);
    phone.line.end(second, { reason: 'remote_hangup', cause: 16 });
    await until('it notices the end', () => next.hasEnded());
    t.match(await end(), { words: 'the call ended: the far end hung up (16 normal_clearing)' });
  });
}

t.test('the matrix and its bots are the same', async (t) => {
  t.same(
    Object.keys(BOTS).sort(),
    BOT_ROWS.map(({ id }) => id)
      .filter((id) => id !== 'livekit')
      .sort(),
  );
});
