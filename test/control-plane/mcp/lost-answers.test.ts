// A client of receive_sms that is gone, in every phase of its call: the message can be claimed as before. A run plays one kind of client in
// each phase.
import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Client } from 'pg';
import t, { type Test } from 'tap';
import { olderToolRequest, toolRequest } from '../../fixtures/agents/tool-client.ts';
import {
  idle,
  isWaiting,
  unclaimed,
  type WaitingSubscriber,
  waitingSubscriber,
  withClient,
} from '../../fixtures/agents/waiting-subscriber.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { someOf } from '../../fixtures/sweep.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const shared = await waitingSubscriber(t, rig, { requestsPerMinute: 10_000, tokenRequestsPerMinute: 10_000 });

const CALL = { name: 'receive_sms', arguments: { wait_seconds: 50 } };
const withProgress = (init: ReturnType<typeof olderToolRequest>) => {
  const body = JSON.parse(init.body) as { params: { _meta?: object } };
  Object.assign(body.params, { _meta: { ...body.params._meta, progressToken: 'p' } });
  return { ...init, body: JSON.stringify(body) };
};
const KINDS = {
  stateless: (headers: Record<string, string>) => toolRequest('tools/call', CALL, headers),
  'stateless, with progress': (headers: Record<string, string>) =>
    withProgress(toolRequest('tools/call', CALL, headers)),
  handshake: (headers: Record<string, string>) => withProgress(olderToolRequest('tools/call', CALL, headers)),
};

/** The service is in this process: what it knows of a connection can be seen. */
const responses: ServerResponse[] = [];
subscribe('http.server.request.start', (message) => {
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
  if (request.url === '/mcp') responses.push(response);
});

interface Caller {
  alice: WaitingSubscriber;
  /** Opens the connection and sends the call, or `part` of its body. */
  call(part?: number): Promise<Socket>;
  /** Closes the connection; resolves when the service knows. */
  leave(): Promise<void>;
}

type Phase = (t: Test, caller: Caller) => Promise<void>;

const TOKEN_LOOKUP = 'while its token is looked up';
const PHASES: Record<string, Phase> = {
  async 'while its body comes'(_, { alice, call, leave }) {
    await alice.deliver('hello');
    await call(0.5);
    await leave();
  },
  async [TOKEN_LOOKUP](t, { alice, call, leave }) {
    await alice.deliver('hello');
    const lock = await holdUp(t, alice, 'lock table tokens in access exclusive mode');
    await call();
    await lock.isHolding();
    await leave();
    await lock.release();
  },
  async 'while it claims what is there'(t, { alice, call, leave }) {
    await alice.deliver('hello');
    const lock = await holdUpClaims(t, alice);
    await call();
    await lock.isHolding();
    await leave();
    await lock.release();
  },
  async 'while it waits'(_, { alice, call, leave }) {
    await call();
    await isWaiting(alice);
    await leave();
    await until('no wait is left', () => alice.waits() === 0);
    await alice.deliver('hello');
  },
  async 'while it gets progress'(_, { alice, call, leave }) {
    const socket = await call();
    await isWaiting(alice);
    const reported = once(socket, 'data');
    alice.clock.advance(10_000);
    // A client that has not asked for progress gets none.
    if (responses.at(-1)?.headersSent === true) await reported;
    await leave();
    await alice.deliver('hello');
  },
  async 'while it claims what has come'(t, { alice, call, leave }) {
    await call();
    await isWaiting(alice);
    const lock = await holdUpClaims(t, alice);
    await alice.deliver('hello');
    await lock.isHolding();
    await leave();
    await lock.release();
  },
  async 'while its answer leaves'(_, { alice, call, leave }) {
    // More than the buffers of a connection hold.
    await withClient(alice.databaseUrl, (client) =>
      client.query(
        `insert into messages (subscription_id, direction, from_number, to_number, body, created_at, received_at)
         select id, 'received', '+13105550188', number, repeat('hello ', 2000000), now(), now() from subscriptions`,
      ),
    );
    const socket = await call();
    socket.pause();
    await until('it is on its way', () => responses.at(-1)?.headersSent);
    t.equal(await unclaimed(alice), 0);
    await leave();
  },
};

for (const [phase, play] of Object.entries(PHASES)) {
  for (const [kind, requestOf] of someOf(t, Object.entries(KINDS), 1)) {
    t.test(`${kind}: gone ${phase}`, async (t) => {
      // A service that knows the token does not ask for it again.
      const alice = phase === TOKEN_LOOKUP ? await waitingSubscriber(t, rig) : await idle(shared);
      const { hostname, port } = new URL(alice.url);
      const { body, headers } = requestOf({ ...alice.headers });
      const lines = Object.entries({ Host: `${hostname}:${port}`, ...headers }).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      );
      let socket: Socket | undefined;
      await play(t, {
        alice,
        async call(part = 1) {
          const before = responses.length;
          socket = connect(Number(port), hostname);
          socket.on('error', () => undefined);
          t.teardown(() => socket?.destroy());
          await once(socket, 'connect');
          const head = `POST /mcp HTTP/1.1\r\n${lines.join('')}Content-Length: ${body.length}\r\n\r\n`;
          socket.write(head + body.slice(0, body.length * part));
          await until('it is being answered', () => responses.length > before);
          return socket;
        },
        async leave() {
          socket?.destroy();
          await until('the service knows', () => responses.at(-1)?.closed);
        },
      });
      const again = await until('it can be claimed', async () => {
        const bodies = await alice.bodies();
        return bodies.length > 0 ? bodies : undefined;
      });
      t.match(again, [/^hello/]);
      t.equal(again.length, 1);
      t.same(await alice.bodies(), [], 'once');
    });
  }
}

/** Holds up every statement that needs the lock until it is released. */
async function holdUp(t: Test, { databaseUrl }: WaitingSubscriber, statement: string) {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  t.teardown(() => client.end());
  await client.query('begin');
  await client.query(statement);
  return {
    isHolding: () =>
      withClient(databaseUrl, (other) =>
        until('a statement waits for the lock', async () => {
          const { rows } = await other.query(
            `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          );
          return rows.length > 0;
        }),
      ),
    release: () => client.query('commit'),
  };
}

/** Messages can be stored, but not claimed. */
async function holdUpClaims(t: Test, alice: WaitingSubscriber) {
  await withClient(alice.databaseUrl, (client) =>
    client.query(`
      create function wait() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock(1); return new; end $$;
      create trigger wait before update on messages for each row execute function wait()`),
  );
  t.teardown(() => withClient(alice.databaseUrl, (client) => client.query('drop function wait cascade')));
  return holdUp(t, alice, 'select pg_advisory_xact_lock(1)');
}
