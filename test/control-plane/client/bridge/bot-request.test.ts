// Requests to an app, as a bridge sends them for as long as it runs.
import { getEventListeners } from 'node:events';
import { createServer } from 'node:http';
import t from 'tap';
import { fetchText } from '#control-plane/client/bridge/bot-request.ts';
import { served } from '../../../fixtures/network/served.ts';

t.test('a hundred requests leave nothing on the signal of the bridge', async (t) => {
  const { signal } = new AbortController();
  const links = (): number => getEventListeners(signal, 'abort').length;
  /** The signals that `AbortSignal.any` keeps, on Node 20 until the process ends. */
  const dependants = (): number =>
    Object.getOwnPropertySymbols(signal)
      .filter(({ description }) => description === 'kDependantSignals')
      .map((name) => (signal as unknown as Record<symbol, { size: number } | null>)[name]?.size ?? 0)
      .reduce((sum, size) => sum + size, 0);
  const during: number[] = [];
  const app = createServer((_, response) => {
    during.push(links());
    response.writeHead(during.length % 2 === 0 ? 200 : 500).end('answer');
  });
  const url = await served(t, app);
  const answers = [];
  for (let count = 0; count < 100; count += 1)
    answers.push(await fetchText(url, {}, signal).catch(() => 'refused'));
  t.same([...new Set(answers)].sort(), ['answer', 'refused']);
  t.same([...new Set(during)], [1]);
  t.same({ links: links(), dependants: dependants() }, { links: 0, dependants: 0 });
});

t.test('an aborted request ends with the reason', async (t) => {
  const controller = new AbortController();
  const app = createServer(() => controller.abort(new Error('the bridge ends')));
  const url = await served(t, app);
  await t.rejects(fetchText(url, {}, controller.signal), { message: 'the bridge ends' });
});
