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
  { from: 'hardware-sim/', never: ['shared/link/', 'shared/api/', 'shared/sms/'] },

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
  { from: 'node-daemon/', except: ['node-daemon/package/'], never: ['esbuild', 'node-daemon/package/'] },
  {
    from: 'node-daemon/sms/',
    never: ['node-daemon/at/', 'node-daemon/modem/', 'node-daemon/link/', 'node-daemon/journal/', 'node:'],
  },
  { from: 'node-daemon/modem/', never: ['node-daemon/link/', 'ws'] },
  { from: 'node-daemon/doctor/checks/', never: ['node:', 'node-daemon/at/port.ts', 'node-daemon/operator/'] },
  { from: 'node-daemon/journal/', never: ['node-daemon/link/', 'node-daemon/modem/', 'node-daemon/at/'] },
];

const sources = readSources();

t.test('the rules speak of sources that exist', async (t) => {
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
    for (const { path, imports } of concerned) {
      const forbidden = imports.filter((name) => never.some((prefix) => isBelow(name, prefix)));
      t.same(forbidden, [], `${path} must not import ${forbidden.join(', ')}`);
    }
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
