// The daemon's options: defaults, and a clear word for each bad value.
import t from 'tap';
import { daemonOptions, parseModemPort } from '#node-daemon/config.ts';

const ports = (text: string) => daemonOptions.modemPorts.schema.safeParse(text);

t.test('ports have the name that is given or that of their file', async (t) => {
  t.same(parseModemPort('/dev/m0-at'), { slot: 'm0-at', path: '/dev/m0-at' });
  t.same(parseModemPort('top=/dev/serial/by-path/a=b'), { slot: 'top', path: '/dev/serial/by-path/a=b' });
  t.same(parseModemPort('/dev/a=b'), { slot: 'a=b', path: '/dev/a=b' });
  t.same(ports(' /dev/a , x=/dev/b,').data, [
    { slot: 'a', path: '/dev/a' },
    { slot: 'x', path: '/dev/b' },
  ]);
});

t.test('bad lists of ports say what is wrong', async (t) => {
  for (const [text, problem] of [
    ['', 'names no port'],
    ['/a/x,/b/x', 'slot "x" is named twice'],
    ['a=/dev/x,b=/dev/x', 'port "/dev/x" is named twice'],
    ['a=', 'slot "a" has no path'],
    ['a b=/dev/x', '"a b" is no slot name'],
  ] as const) {
    t.match(ports(text).error?.issues[0]?.message, problem);
  }
});

t.test('other options are checked', async (t) => {
  const { controlPlaneUrl, nodeId, linkSecret, dataDir, logLevel } = daemonOptions;
  t.equal(nodeId.schema.parse(undefined), 'node-1');
  t.equal(dataDir.schema.parse(undefined), 'data/node');
  t.equal(logLevel.schema.parse(undefined), 'info');
  for (const bad of [undefined, 'localhost:8080', 'ftp://x', 'http://u:p@x', 'http://x/?q']) {
    t.notOk(controlPlaneUrl.schema.safeParse(bad).success, String(bad));
  }
  for (const bad of [undefined, 'short', 'with blanks in the middle']) {
    t.notOk(linkSecret.schema.safeParse(bad).success, String(bad));
  }
  for (const bad of ['', 'UPPER', 'x'.repeat(33), 'a_b']) t.notOk(nodeId.schema.safeParse(bad).success, bad);
});
