// The allowed imports, checked on every source. docs/internals/architecture.md has the main rules in words.
import t from 'tap';
import { readSources } from './sources.ts';

interface Rule {
  /** Sources below this path … */
  from: string;
  /** … but for these … */
  except?: readonly string[];
  /** … never import anything below these. */
  never: readonly string[];
}

const TOP_FOLDERS = ['control-plane/', 'node-daemon/', 'hardware-sim/', 'test/'];
const allBut = (...names: string[]): string[] => TOP_FOLDERS.filter((name) => !names.includes(name));

const RULES: readonly Rule[] = [
  { from: 'shared/', never: TOP_FOLDERS },
  // shared/ holds shapes and pure functions; what every main.ts needs of the system is in process/, the operators' socket in operator/.
  {
    from: 'shared/',
    except: [
      'shared/packaging/',
      'shared/process/',
      'shared/operator/operator-',
      'shared/operator/local-socket.ts',
      'shared/operator/findings-text.ts',
    ],
    never: ['node:', 'pino', 'commander', 'ws'],
  },
  { from: 'control-plane/', never: allBut('control-plane/') },
  { from: 'node-daemon/', never: allBut('node-daemon/') },
  { from: 'hardware-sim/', never: allBut('hardware-sim/') },
  { from: 'hardware-sim/', never: ['shared/link/', 'shared/api/', 'shared/sms/', 'shared/packaging/'] },
  { from: 'shared/', except: ['shared/packaging/'], never: ['shared/packaging/'] },

  // Programs do not need what makes their packages.
  {
    from: 'control-plane/',
    except: ['control-plane/package/', 'control-plane/client/package/'],
    never: ['esbuild', 'shared/packaging/', 'control-plane/package/'],
  },
  {
    from: 'node-daemon/',
    except: ['node-daemon/package/'],
    never: ['esbuild', 'shared/packaging/', 'node-daemon/package/'],
  },

  {
    from: 'control-plane/domain/',
    never: ['control-plane/store/', 'control-plane/http/', 'control-plane/nodes/', 'koa', 'ws'],
  },
  {
    from: 'control-plane/payments/',
    never: ['control-plane/store/', 'control-plane/http/', 'control-plane/nodes/', 'koa', 'ws'],
  },
  {
    from: 'control-plane/store/',
    never: ['control-plane/http/', 'control-plane/handlers/', 'control-plane/nodes/', 'control-plane/voice/'],
  },
  {
    from: 'control-plane/nodes/',
    never: [
      'control-plane/http/',
      'control-plane/handlers/',
      'control-plane/payments/',
      'control-plane/voice/',
    ],
  },
  {
    from: 'control-plane/voice/',
    never: ['control-plane/http/', 'control-plane/handlers/', 'control-plane/payments/', 'koa'],
  },
  {
    from: 'control-plane/alerts/',
    never: ['control-plane/http/', 'control-plane/handlers/', 'control-plane/nodes/', 'koa'],
  },
  {
    from: 'control-plane/probes/',
    never: ['control-plane/http/', 'control-plane/handlers/', 'control-plane/payments/', 'koa', 'ws'],
  },
  {
    from: 'control-plane/webhooks/',
    never: [
      'control-plane/http/',
      'control-plane/handlers/',
      'control-plane/nodes/',
      'control-plane/voice/',
      'koa',
    ],
  },
  {
    from: 'control-plane/',
    except: ['control-plane/webhooks/agents.ts'],
    never: ['request-filtering-agent', 'ipaddr.js'],
  },
  {
    from: 'control-plane/mail/',
    never: ['control-plane/http/', 'control-plane/handlers/', 'control-plane/nodes/', 'koa'],
  },
  {
    from: 'control-plane/',
    except: ['control-plane/mail/', 'control-plane/alerts/alert-mail.ts'],
    never: ['nodemailer', 'nodemailer/lib/smtp-connection', 'nodemailer/lib/mail-composer'],
  },
  {
    from: 'control-plane/metrics/',
    never: [
      'control-plane/store/',
      'control-plane/http/',
      'control-plane/handlers/',
      'control-plane/nodes/',
      'koa',
    ],
  },
  { from: 'control-plane/', except: ['control-plane/metrics/'], never: ['prom-client'] },
  { from: 'control-plane/console/', never: ['control-plane/handlers/', 'control-plane/voice/', 'ws'] },
  {
    from: 'control-plane/',
    except: ['control-plane/console/', 'control-plane/service/'],
    never: ['control-plane/console/'],
  },
  { from: 'control-plane/mcp/', never: ['control-plane/http/', 'control-plane/store/', 'koa'] },
  {
    from: 'control-plane/',
    except: ['control-plane/mcp/'],
    never: ['@modelcontextprotocol/server', '@modelcontextprotocol/server/validators/ajv'],
  },
  { from: 'control-plane/handlers/', never: ['control-plane/http/', 'koa'] },
  { from: 'control-plane/http/', except: ['control-plane/http/bearer.ts'], never: ['control-plane/store/'] },
  {
    from: 'control-plane/client/',
    never: [
      'control-plane/domain/',
      'control-plane/store/',
      'control-plane/http/',
      'control-plane/payments/',
      'control-plane/nodes/',
      'control-plane/handlers/',
      'control-plane/voice/',
      'control-plane/bus/',
      'control-plane/discovery/',
      'control-plane/operator/',
      'control-plane/signatures/',
    ],
  },
  // The library runs in browsers too, and its users may have no viem.
  {
    from: 'control-plane/client/',
    except: [
      'control-plane/client/bridge/',
      'control-plane/client/commands/',
      'control-plane/client/package/',
      'control-plane/client/socket.ts',
      'control-plane/client/twilio-api/',
    ],
    never: ['node:', 'viem', 'esbuild', 'typescript'],
  },
  {
    from: 'control-plane/',
    except: ['control-plane/store/', 'control-plane/backup/'],
    never: ['kysely', 'pg', '@electric-sql/pglite'],
  },
  { from: 'control-plane/', except: ['control-plane/bus/nats-'], never: ['@nats-io/transport-node'] },

  {
    from: 'node-daemon/at/',
    never: ['node-daemon/modem/', 'node-daemon/sms/', 'node-daemon/link/', 'node-daemon/journal/'],
  },
  {
    from: 'node-daemon/',
    except: ['node-daemon/at/port.ts'],
    never: ['serialport', '@serialport/stream', '@serialport/bindings-cpp'],
  },
  {
    from: 'node-daemon/sms/',
    never: ['node-daemon/at/', 'node-daemon/modem/', 'node-daemon/link/', 'node-daemon/journal/', 'node:'],
  },
  { from: 'node-daemon/modem/', never: ['node-daemon/link/', 'ws'] },
  { from: 'node-daemon/doctor/checks/', never: ['node:', 'node-daemon/at/port.ts', 'node-daemon/operator/'] },
  { from: 'node-daemon/journal/', never: ['node-daemon/link/', 'node-daemon/modem/', 'node-daemon/at/'] },
];

const sources = readSources();

t.test('every rule names sources that exist', async (t) => {
  for (const { from, except = [] } of RULES) {
    for (const path of [from, ...except])
      t.ok(
        sources.some((source) => source.path.startsWith(path)),
        path,
      );
  }
});

t.test('no source imports what its folder must not', async (t) => {
  for (const { from, except = [], never } of RULES) {
    const concerned = sources.filter(
      ({ path }) => path.startsWith(from) && !except.some((exception) => path.startsWith(exception)),
    );
    const forbidden = concerned.flatMap(({ path, imports }) =>
      imports
        .filter((name) => never.some((prefix) => isBelow(name, prefix)))
        .map((name) => `${path} imports ${name}`),
    );
    t.same(forbidden, [], `${from} never imports ${never.join(', ')}`);
  }
});

t.test('only main.ts and the options beside it read the environment', async (t) => {
  const readers = sources.filter(
    ({ path, text }) => !path.startsWith('test/') && /process\.(env|argv)/.test(text),
  );
  t.same(
    readers.map(({ path }) => path).filter((path) => !/(^|\/)main\.ts$|^shared\/process\//.test(path)),
    [],
  );
});

function isBelow(name: string, prefix: string): boolean {
  return prefix.endsWith('/') || prefix.endsWith(':') ? name.startsWith(prefix) : name === prefix;
}

const EXPORTED =
  /^export (?:async )?(?:const|let|function\*?|class|abstract class|interface|type|enum) ([\w$]+)/gm;

/** Named by no import, and needed: the compiler writes the first ones into declarations that it infers, Node calls the last one. */
const NOT_IMPORTED = new Set([
  'control-plane/store/cards/fleet-apply.ts:FleetDiff',
  'control-plane/store/money/subscription-refunds.ts:PlannedRefund',
  'node-daemon/config/options.ts:ModemPort',
  'node-daemon/operator/procedures/procedure.ts:Context',
  'test/fixtures/agents/twilio-sdk.ts:TwilioClient',
  'test/fixtures/agents/webhook-subscriber.ts:Hook',
  'test/fixtures/agents/webhook-subscriber.ts:ListedDelivery',
  'test/fixtures/await-hooks.ts:load',
]);

t.test('each export is imported by another file, types too', async (t) => {
  const imported = new Set(sources.flatMap(({ importedNames }) => importedNames));
  // The exports in a test are of a program that it writes.
  const modules = sources.filter(({ path }) => !path.endsWith('.test.ts'));
  const exported = modules.flatMap(({ path, text }) =>
    [...text.matchAll(EXPORTED)].map(([, name]) => ({ path, name: `${path}:${name}` })),
  );
  const isUsed = ({ path, name }: { path: string; name: string }): boolean =>
    imported.has(name) || imported.has(`${path}:*`);
  t.ok(exported.length > 3_000, `${exported.length} exports`);
  t.same(
    exported.filter((each) => !isUsed(each) && !NOT_IMPORTED.has(each.name)).map(({ name }) => name),
    [],
  );
  const names = new Set(exported.filter((each) => !isUsed(each)).map(({ name }) => name));
  t.same(
    [...NOT_IMPORTED].filter((name) => !names.has(name)),
    [],
    'each exception is one',
  );
});
