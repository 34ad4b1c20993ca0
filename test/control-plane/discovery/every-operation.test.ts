// Every answer that the description promises, of every operation, provoked at the real service and held against it.
import { type Schema, Validator } from '@cfworker/json-schema';
import t from 'tap';
import { createRig } from '../../fixtures/service/rig.ts';
import { collectStatements, wholeReads } from '../store/plans.ts';
import { type Described, type Documented, documentedAnswers, nameOf } from './documented.ts';
import type { Answer } from './provocations/ask.ts';
import { BY_CODE, type Provocation } from './provocations/by-code.ts';
import { REVOKING, SERVICE } from './provocations/service.ts';
import { setStages } from './provocations/stages.ts';
import { SUBSCRIBER } from './provocations/subscriber.ts';
import { WEBHOOKS } from './provocations/webhooks.ts';

const statements = collectStatements();
const rig = await createRig();
const OWN: Record<string, Provocation> = { ...SERVICE, ...SUBSCRIBER, ...WEBHOOKS, ...REVOKING };

const stages = await setStages(t, rig);
const document = (await (await fetch(`${stages.good.url}/openapi.json`)).json()) as Described;
const documented = documentedAnswers(document);
// Operations that revoke the token come last.
const isLast = (answer: Documented): boolean => nameOf(answer) in REVOKING;
const inOrder = [...documented.filter((answer) => !isLast(answer)), ...documented.filter(isLast)];

function provocationOf(answer: Documented): Provocation | undefined {
  return OWN[nameOf(answer)] ?? (answer.code === undefined ? undefined : BY_CODE[answer.code]?.(answer));
}

function problemsOf(schema: Schema, body: unknown): unknown[] {
  const { components } = document;
  return new Validator({ ...schema, components }, '2020-12', false).validate(body).errors;
}

t.test('the description has all operations', async (t) => {
  t.ok(documented.length > 100, `${documented.length} answers`);
  t.ok(new Set(documented.map(({ id }) => id)).size >= 14);
});

t.test('every provocation belongs to an operation of the description', async (t) => {
  const names = documented.map(nameOf);
  t.same(
    Object.keys(OWN).filter((name) => !names.includes(name)),
    [],
  );
});

for (const answer of inOrder) {
  t.test(nameOf(answer), async (t) => {
    const provoke = provocationOf(answer);
    if (provoke === undefined) {
      t.fail('nothing provokes it');
      return;
    }
    const { status, headers, body } = await provoke(stages);
    const { error, request_id: requestId } = (body ?? {}) as Record<string, unknown>;
    if (answer.code === undefined) t.equal(status, answer.status, JSON.stringify(body));
    else t.same({ status, error }, { status: answer.status, error: answer.code });
    if (status === 204) {
      t.equal(body, undefined);
      return;
    }
    t.same(problemsOf(answer.schema, body), []);
    t.match(headers.get('content-type'), /^application\/json\b/);
    if (answer.code !== undefined) checkRefusal(t, { headers, status, requestId });
  });
}

function checkRefusal(
  t: typeof import('tap').default | import('tap').Test,
  { headers, status, requestId }: Pick<Answer, 'headers' | 'status'> & { requestId: unknown },
): void {
  t.match(requestId, /^[0-9a-f-]{36}$/);
  t.equal(headers.get('x-request-id'), requestId);
  t.equal(headers.get('cache-control'), 'no-store');
  if (status === 429) t.match(headers.get('retry-after'), /^\d+$/);
  if (status === 401 && headers.has('www-authenticate')) t.match(headers.get('www-authenticate'), 'Bearer');
}

t.test('no statement behind them reads the whole of a table that grows', async (t) => {
  t.ok(statements.size > 100, `${statements.size} statements`);
  t.same(await wholeReads(stages.good.databaseUrl, statements), []);
});
