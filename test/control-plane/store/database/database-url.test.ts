// URLs of one database on several servers.
import t from 'tap';
import {
  problemOfDatabaseUrl,
  serverUrls,
  shownDatabase,
} from '#control-plane/store/database/database-url.ts';

t.test('a URL for each server, in order, without what only chooses between them', async (t) => {
  t.same(serverUrls('postgres://u:p%40x@a:1,b:2/db?target_session_attrs=read-write'), [
    'postgres://u:p%40x@a:1/db',
    'postgres://u:p%40x@b:2/db',
  ]);
  t.same(serverUrls('postgresql://a,[::1]:5433/db?sslmode=require&target_session_attrs=primary&x=1'), [
    'postgresql://a/db?sslmode=require&x=1',
    'postgresql://[::1]:5433/db?sslmode=require&x=1',
  ]);
  for (const url of ['postgres://u:p@a:1/db?sslmode=verify-full', 'postgres:///db?host=/run/postgresql'])
    t.same(serverUrls(url), [url]);
});

t.test('invalid database URLs are refused with the problem', async (t) => {
  for (const url of ['postgres://a/db', 'postgres://u@a:1,b:2/db?target_session_attrs=primary'])
    t.equal(problemOfDatabaseUrl(url), undefined, url);
  for (const url of [
    'http://a/db',
    'a:1,b:2',
    '',
    'postgres://a:1,b:x/db',
    'postgres://a:1,b:99999/db',
    'postgres:///db?host=a,b',
    `postgres://${'a,'.repeat(8)}b/db`,
    'postgres://a,b/db?target_session_attrs=standby',
  ])
    t.type(problemOfDatabaseUrl(url), 'string', url);
});

t.test('shown without secrets, as what answers: servers, or the folder of a socket', async (t) => {
  for (const [url, shown] of [
    [
      'postgres://user:secret@db1:5432,db2:5433/simrack?target_session_attrs=primary',
      'db1:5432,db2:5433/simrack',
    ],
    ['postgres://user:secret@localhost/simrack?host=/run/postgresql', '/run/postgresql/simrack'],
  ] as const)
    t.equal(shownDatabase(url), shown);
});
