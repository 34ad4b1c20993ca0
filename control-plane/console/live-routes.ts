// The pages that follow the fleet, and the stream that sends them the changes.
import type Router from '@koa/router';
import type { Context } from 'koa';
import * as z from 'zod';
import type { Html } from '#shared/html.ts';
import { nodeNameSchema } from '#shared/link/enrollment.ts';
import { slotNameSchema } from '#shared/link/slot.ts';
import { check } from '../domain/checked-input.ts';
import { Refusal } from '../domain/refusal.ts';
import { doneWords } from './actions/action-words.ts';
import type { ConsolePageParts } from './console-parts.ts';
import type { Fragment } from './live/live-topic.ts';
import { framed } from './pages/frame.ts';
import { nodePage } from './pages/node-page.ts';
import { overviewPage } from './pages/overview.ts';
import { slotPage } from './pages/slot-page.ts';
import { sessionOf } from './session/request-state.ts';
import { rangeSchema, readTopic, type Topic, topicText } from './topic.ts';

const nodeSchema = z.object({ node: nodeNameSchema });
const slotSchema = rangeSchema.extend({ name: slotNameSchema });
const streamSchema = z.object({ topic: z.string().max(500), after: z.string().max(60).default('') });

export function routeLive(
  router: Router,
  { feed, serviceName, view }: Pick<ConsolePageParts, 'feed' | 'serviceName' | 'view'>,
): void {
  const show = async (
    ctx: Context,
    { topic, title, hasPlots }: { topic: Topic; title: string; hasPlots: boolean },
    body: (fragments: readonly Fragment[]) => Html,
  ): Promise<void> => {
    const text = topicText(topic);
    const done = doneWords(ctx.query['done']);
    // Another instance may have done it a moment ago.
    if (done !== undefined) view.changed();
    const { fragments, version } = await feed.show(text);
    ctx.type = 'html';
    ctx.body = framed(
      {
        title,
        serviceName,
        session: sessionOf(ctx),
        place: '/',
        hasPlots,
        live: { topic: text, version },
        done,
      },
      body(fragments),
    );
  };

  router.get('/', (ctx) => {
    const { range } = rangeSchema.parse(ctx.query);
    return show(ctx, { topic: { of: 'fleet', range }, title: 'Fleet', hasPlots: true }, (fragments) =>
      overviewPage(fragments, range),
    );
  });

  const nodeOf = async (ctx: Context): Promise<string> => {
    const { node } = check(nodeSchema, ctx['params']);
    if ((await view.fleet()).some(({ name }) => name === node)) return node;
    throw new Refusal('not_found', `There is no node "${node}".`);
  };

  router.get('/nodes/:node', async (ctx) => {
    const node = await nodeOf(ctx);
    const topic = { of: 'node', node, range: 'hour' } as const;
    await show(ctx, { topic, title: node, hasPlots: false }, (fragments) => nodePage(node, fragments));
  });

  router.get('/nodes/:node/slot', async (ctx) => {
    const { name: slot, range } = check(slotSchema, ctx.query);
    const node = await nodeOf(ctx);
    const topic = { of: 'slot', node, slot, range } as const;
    await show(ctx, { topic, title: `${node} ${slot}`, hasPlots: true }, (fragments) =>
      slotPage({ node, slot }, fragments, range),
    );
  });

  router.get('/live', async (ctx) => {
    const { topic, after } = check(streamSchema, ctx.query);
    if (readTopic(topic) === undefined) throw new Refusal('not_found', 'There is no such live stream.');
    // A browser that comes back says what it had last.
    const version = ctx.get('Last-Event-ID') || after;
    ctx.set({ 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' });
    // A HEAD request gets the headers only.
    if (ctx.method === 'HEAD') {
      ctx.status = 200;
      return;
    }
    await feed.watch(topic, version, sessionOf(ctx), ctx.res);
    ctx.respond = false;
  });
}
