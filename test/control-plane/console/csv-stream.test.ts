// A download of the console that its browser stops reading: it is read no further, and ends. One that is read slowly goes on.
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import Koa from 'koa';
import t, { type Test } from 'tap';
import { csvStream, endIfStalled } from '#control-plane/console/csv-stream.ts';
import { OperatorRefusal } from '#control-plane/domain/refusal.ts';
import { served } from '../../fixtures/network/served.ts';
import { until } from '../../fixtures/until.ts';

/** More than the buffers of both ends of a connection take. */
const ENDLESS = 1_000_000;
const STALLED_MS = 1_000;
const PAGE = Array.from({ length: 1_000 }, () => ({ text: 'x'.repeat(1_000) }));

/** Counts the pages that were read; the list has `pages` of a megabyte each, and the page `fails` cannot be read. */
async function download(t: Test, pages: number, fails?: number) {
  const counted = { pages: 0, closed: 0 };
  const app = new Koa();
  app.silent = true;
  app.use(async (ctx) => {
    const columns = [{ title: 'Text', cell: ({ text }: { text: string }) => text }];
    const read = async () => {
      counted.pages += 1;
      if (counted.pages === fails) throw new OperatorRefusal('The row to go on from is gone: start again.');
      return { rows: PAGE, next: counted.pages < pages ? 'more' : null };
    };
    const body = await csvStream(columns, read, { isFull: false, nowMs: 0 });
    body.once('close', () => {
      counted.closed += 1;
    });
    ctx.body = body;
    endIfStalled(ctx.res, STALLED_MS);
  });
  const answer = app.callback();
  const url = await served(
    t,
    createServer((...each) => void answer(...each)),
  );
  const response = await fetch(url);
  return { counted, reader: response.body?.getReader() };
}

t.test('a browser that reads no more', async (t) => {
  const { counted, reader } = await download(t, ENDLESS);
  await until('the stream is closed', () => counted.closed === 1);
  t.ok(counted.pages < 100, `${counted.pages} pages were read`);
  await t.rejects(async () => {
    while ((await reader?.read())?.done === false);
  }, 'the browser sees that it is not whole');
});

t.test('a browser that reads slowly gets all of it', async (t) => {
  const { counted, reader } = await download(t, 20);
  let bytes = 0;
  for (let chunk = await reader?.read(); chunk?.done === false; chunk = await reader?.read()) {
    const before = bytes;
    bytes += chunk.value.length;
    // Longer than the limit in all, and shorter at each time.
    if (Math.floor(bytes / 2_000_000) > Math.floor(before / 2_000_000)) await pause(STALLED_MS / 5);
  }
  t.ok(bytes > 20 * 1_000_000);
  t.same([counted.pages, counted.closed], [20, 1]);
});

t.test('a list that cannot be read to its end breaks off, and does not seem whole', async (t) => {
  const { reader } = await download(t, 20, 3);
  await t.rejects(async () => {
    while ((await reader?.read())?.done === false);
  });
});
