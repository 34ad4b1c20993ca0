// The control plane's half of the link: every scenario with frames of a node against the real service.
import { once } from 'node:events';
import t, { type Test } from 'tap';
import WebSocket from 'ws';
import type { Service } from '#control-plane/service/service.ts';
import { LINK_VERSION } from '#shared/link/version.ts';
import { ALICE } from '../dev-stack/wallets.ts';
import { jsonPost } from '../fixtures/agents/json-post.ts';
import { subscribeInStore } from '../fixtures/agents/subscribed.ts';
import { openLinkSocket } from '../fixtures/nodes/scripted-node.ts';
import { createRig } from '../fixtures/service/rig.ts';
import { until } from '../fixtures/until.ts';
import { blankOpenValues, fillOpenValues } from './match-frame.ts';
import { INBOUND_CALL_ID, NUMBER, RECIPIENT, SCENARIOS, type Scenario } from './scenarios.ts';

const rig = await createRig();

/** The SIM of a node whose link has ended is the next one's. */
const AT_ONCE = { handoverWaitMs: 0 };

/** The code that closes a stream whose call is not known, or not yet. */
const NO_CALL = 4404;
const RESTART = 1012;

interface Plane {
  url: string;
  databaseUrl: string;
  service: Service;
  /** Set when the number of the slot has a holder. */
  headers?: Record<string, string>;
  /** The answer to the last /voice/dial. */
  dialled?: Promise<unknown>;
}

/** Makes the control plane send a frame that is not an answer. */
async function provoke(plane: Plane, frame: { type: string; [field: string]: unknown }): Promise<void> {
  if (frame.type === 'drain') void plane.service.stop();
  if (frame.type !== 'command') return;
  plane.headers ??= await holdNumber(plane);
  const { headers } = plane;
  const ask = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const response = await fetch(plane.url + path, jsonPost(body, headers));
    return (await response.json()) as Record<string, unknown>;
  };
  // The new place of the SIM is stored and confirmed a moment after the welcome.
  const isOnline = ({ message }: Record<string, unknown>): boolean =>
    !/offline|provisioned|link is closed/.test(String(message));
  const askOnline = (path: string, body: object) =>
    until('a node that is online', async () => {
      const answer = await ask(path, body);
      return isOnline(answer) && answer;
    });
  switch (frame['name']) {
    case 'send_sms':
      void askOnline('/sms/send', { to: RECIPIENT, body: 'hello' });
      return;
    case 'dial':
      plane.dialled = askOnline('/voice/dial', { phone_number: NUMBER, to: RECIPIENT });
      return;
    case 'hang_up':
      void ask('/voice/hangup', { call_id: ((await plane.dialled) as { call_id: string }).call_id });
      return;
    case 'answer':
      streamUntilKnown(`${plane.url.replace('http', 'ws')}/voice/stream/${INBOUND_CALL_ID}`, headers);
      return;
  }
}

/** Opens the stream of a call that was reported to the control plane a moment ago. */
function streamUntilKnown(url: string, headers: Record<string, string>): void {
  const socket = new WebSocket(url, { headers });
  socket.on('error', () => undefined);
  socket.on('close', (code) => {
    if (code === NO_CALL || code === RESTART) streamUntilKnown(url, headers);
  });
}

const holdNumber = async ({ databaseUrl }: Plane): Promise<Record<string, string>> =>
  (await subscribeInStore(databaseUrl, ALICE, NUMBER)).headers;

class Dialogue {
  readonly #socket: WebSocket;
  readonly #frames: Array<Record<string, unknown>> = [];
  closeCode: number | undefined;
  commandId = '';

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => {
      const frame = JSON.parse(String(data));
      // The SIM moves with every scenario, which none of them is about.
      if (frame.name !== 'bind_sim') this.#frames.push(frame);
      else this.send(JSON.stringify({ type: 'result', id: frame.id, ok: true, result: {} }));
    });
    socket.on('close', (code) => {
      this.closeCode = code;
    });
  }

  get unread(): number {
    return this.#frames.length;
  }

  send(text: string): void {
    this.#socket.send(text);
  }

  async next(what: string): Promise<Record<string, unknown>> {
    await until(what, () => this.#frames.length > 0);
    return this.#frames.shift() ?? {};
  }

  /** The other side knows it, too. */
  async end(): Promise<void> {
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    const closed = once(this.#socket, 'close');
    this.#socket.close();
    await closed;
  }
}

async function play(t: Test, plane: Plane, scenario: Scenario): Promise<void> {
  // A call belongs to the holder of the number when it begins.
  if (scenario.steps.some((step) => 'frame' in step && step.frame.type === 'call'))
    plane.headers ??= await holdNumber(plane);
  // Another node each time, which no command of the one before is for.
  const nodeId = `node-${Math.random().toString(36).slice(2, 10)}`;
  const dialogue = new Dialogue(await openLinkSocket(plane.url, { nodeId }));
  for (const step of scenario.steps) {
    if ('text' in step) dialogue.send(step.text);
    else if ('closes' in step) {
      await until(`close code ${step.code}`, () => dialogue.closeCode !== undefined);
      t.equal(dialogue.closeCode, step.code);
    } else if (step.from === 'node') {
      const values = {
        version_min: LINK_VERSION,
        version_max: LINK_VERSION,
        journal_id: nodeId,
        id: dialogue.commandId,
      };
      dialogue.send(JSON.stringify(fillOpenValues(step.frame, values)));
    } else {
      await provoke(plane, step.frame);
      const frame = await dialogue.next(step.frame.type);
      if (frame['type'] === 'command') dialogue.commandId = String(frame['id']);
      t.strictSame(blankOpenValues(frame, step.frame), step.frame, `${step.frame.type}, exactly`);
    }
  }
  t.equal(dialogue.unread, 0, 'and nothing else');
  await dialogue.end();
}

const isLast = ({ steps }: Scenario): boolean =>
  steps.some((step) => 'frame' in step && step.frame.type === 'drain');

const scenarios = SCENARIOS.filter(({ only }) => only !== 'node');
const shared = await rig.start(t, AT_ONCE);
for (const scenario of scenarios)
  t.test(scenario.name, async (t) =>
    play(t, isLast(scenario) ? await rig.start(t, AT_ONCE) : shared, scenario),
  );
