// Which names and addresses are of this machine alone: rules about TLS depend on it.
import t from 'tap';
import { isLoopback, isLoopbackHost } from '#shared/loopback.ts';

t.test('names and addresses of this machine, also as in a URL', async (t) => {
  for (const host of ['localhost', '127.0.0.1', '127.255.3.4', '::1', '[::1]', '::ffff:127.0.0.1'])
    t.ok(isLoopback(host), host);
  for (const host of [
    '',
    '127.1',
    '127.0.0.256',
    '127.0.0.1.example',
    '127.0.0.01',
    '128.0.0.1',
    '::',
    'a.localhost',
  ])
    t.notOk(isLoopback(host), host);
});

t.test('Host headers of this machine, with and without a port', async (t) => {
  for (const host of ['localhost:80', '127.0.0.1', '[::1]:8080']) t.ok(isLoopbackHost(host), host);
  for (const host of ['', 'example.com', '127.0.0.1.example', '::1']) t.notOk(isLoopbackHost(host), host);
});
