// Measures the delay that `simrack bridge` adds to a frame, to the bot and back, for one call and for 64 calls in one process. In the same run,
// the same frames go to the bot directly, which is subtracted, and through a bare relay of WebSockets, a process too: the floor on this
// machine.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import WebSocket, { WebSocketServer } from 'ws';
import { listen } from '#shared/process/listen.ts';
import { FRAME_MS } from '#shared/voice/media.ts';
import { until } from '../../fixtures/until.ts';
import { startChild } from '../child.ts';
import { type Measurement, median, percentile } from '../report.ts';

const CALLS = 64;
const ROUNDS = 15;
const ROUND_MS = 4_000;
const ADDED_MS = 2;
const NAMES = ['direct', 'relay', 'bridge'] as const;
type Name = (typeof NAMES)[number];

/** As long as a message of 20 ms in Twilio's protocol; the number of the frame is its payload. */
const media = (call: number, frame: number): string =>
  `{"event":"media","sequenceNumber":"${frame}","media":{"track":"inbound","chunk":"${frame}","timestamp":"${frame * FRAME_MS}",` +
  `"payload":"${`${call} ${frame}`.padEnd(216, ' ')}"},"streamSid":"MZ00000000000000000000000000000000"}`;

const START =
  '{"event":"start","sequenceNumber":"1","start":{"customParameters":{}},"streamSid":"MZ00000000000000000000000000000000"}';

/** The service's ends of the calls, whose bots return every message. */
type Streams = Readonly<Record<Name, readonly WebSocket[]>>;

/** Milliseconds from sending to return, one a frame. */
type Delays = Record<Name, number[]>;

export async function benchVoiceBridge(): Promise<Measurement[]> {
  const service = await acceptSockets(() => undefined);
  const bot = await acceptSockets(echo);
  const relay = await startChild('test/bench/voice/bare-relay.ts');
  const bridge = await startChild('test/bench/voice/bridge-child.ts', {
    SERVICE_URL: `http://127.0.0.1:${service.port}`,
    BOT_URL: `ws://127.0.0.1:${bot.port}/ws`,
    CALLS: String(CALLS),
  });
  try {
    await until('all calls are bridged', () => service.sockets.length === CALLS, 60_000);
    const relayPort = Number(relay.ready['port']);
    const streams = {
      direct: await opened(() => `ws://127.0.0.1:${bot.port}/`),
      relay: await opened((call) => `ws://127.0.0.1:${relayPort}/${call}`),
      bridge: service.sockets,
    };
    for (const echoing of await opened((call) => `ws://127.0.0.1:${relayPort}/${call}`)) echo(echoing);
    await Promise.all(
      streams.bridge.map((stream) => {
        stream.send(START);
        return once(stream, 'message');
      }),
    );
    const measurements: Measurement[] = [];
    for (const calls of [1, CALLS]) {
      const rounds: Delays[] = [];
      for (let round = -1; round < ROUNDS; round += 1) {
        // As the service does: the bridge ends a stream that is silent for a minute.
        for (const stream of streams.bridge) stream.ping();
        const delays = await measure(streams, calls);
        if (round >= 0) rounds.push(delays);
      }
      measurements.push(...report(calls, rounds));
    }
    return measurements;
  } finally {
    await Promise.all([bridge.stop(), relay.stop()]);
    await Promise.all([service.stop(), bot.stop()]);
  }
}

/** Differences of the same percentile in the same round. */
function report(calls: number, rounds: readonly Delays[]): Measurement[] {
  const titleOf = (words: string, percent: number): string =>
    `${words}, ${calls} ${calls === 1 ? 'call' : 'calls'}, p${percent}`;
  return [50, 99].flatMap((percent) => {
    const of = (name: Name): number[] => rounds.map((round) => percentile(round[name], percent));
    const [direct, relay, bridge] = [of('direct'), of('relay'), of('bridge')];
    const beyond = (delays: readonly number[], floor: readonly number[]): number[] =>
      delays.map((value, round) => value - (floor[round] ?? Number.NaN));
    const typical = (delays: readonly number[]): string => `${median(delays).toFixed(2)} ms`;
    return [
      {
        name: titleOf('floor: a bare relay adds, to the bot and back', percent),
        rounds: beyond(relay, direct),
        unit: 'ms',
        remark: `${typical(relay)} against ${typical(direct)} without a relay`,
      },
      {
        name: titleOf('bridge adds, to the bot and back', percent),
        rounds: beyond(bridge, direct),
        unit: 'ms',
        remark: `${typical(bridge)} against ${typical(direct)} without it; ${typical(beyond(bridge, relay))} beyond the floor`,
        ...(percent === 99 ? { target: { atMost: ADDED_MS } } : {}),
      },
    ];
  });
}

const opened = (urlOf: (call: number) => string): Promise<WebSocket[]> =>
  Promise.all(
    Array.from({ length: CALLS }, async (_, call) => {
      const socket = new WebSocket(urlOf(call), { perMessageDeflate: false });
      await once(socket, 'open');
      return socket;
    }),
  );

function echo(socket: WebSocket): void {
  socket.on('message', (data: Buffer) => socket.send(data, { binary: false }));
}

/** A frame of each call each 20 ms, through all three. They take turns within the 20 ms: none waits for the others' processes. */
async function measure(streams: Streams, calls: number): Promise<Delays> {
  const sentAt = new Map<string, number>();
  const delays: Delays = { direct: [], relay: [], bridge: [] };
  const listeners = NAMES.flatMap((name) =>
    streams[name].slice(0, calls).map((stream) => {
      const listener = (data: Buffer): void => {
        const at = performance.now();
        const key = `${name} ${/"payload":"(\d+ \d+)/.exec(data.toString())?.[1]}`;
        const from = sentAt.get(key);
        if (from !== undefined) delays[name].push(at - from);
        sentAt.delete(key);
      };
      stream.on('message', listener);
      return () => stream.off('message', listener);
    }),
  );
  const startedAt = performance.now();
  let sent = 0;
  for (let frame = 1; frame * FRAME_MS <= ROUND_MS; frame += 1)
    for (let call = 0; call < calls; call += 1) {
      // Each is the first one as often as the others.
      const first = frame % NAMES.length;
      for (const [turn, name] of [...NAMES.slice(first), ...NAMES.slice(0, first)].entries()) {
        const due = frame + (call + turn / NAMES.length) / calls;
        // A timer takes a millisecond at least: frames that are due by then are sent together.
        const earlyMs = startedAt + due * FRAME_MS - performance.now();
        if (earlyMs >= 1) await pause(earlyMs);
        sentAt.set(`${name} ${call} ${frame}`, performance.now());
        streams[name][call]?.send(media(call, frame));
      }
      sent += 1;
    }
  await until('all came back', () => NAMES.every((name) => delays[name].length === sent));
  for (const stop of listeners) stop();
  return delays;
}

async function acceptSockets(onConnection: (socket: WebSocket) => void) {
  const sockets: WebSocket[] = [];
  const server = createServer();
  const upgrades = new WebSocketServer({ server, perMessageDeflate: false });
  upgrades.on('connection', (socket) => {
    sockets.push(socket);
    onConnection(socket);
  });
  const { port, stop } = await listen(server, { port: 0, option: 'port' });
  return {
    port,
    sockets,
    stop() {
      for (const client of upgrades.clients) client.terminate();
      return stop();
    },
  };
}
