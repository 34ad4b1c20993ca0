// Slots in their hubs and ports, whatever their paths are.
import t from 'tap';
import { layOut } from '#node-daemon/status-page/rack-layout.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';

const at = (path: string | null, slot = path ?? 'named') => slotAt(1, { slot, usb_path: path });
/** "1-1: 1=a 2=empty 3=hub 1-1.3". */
const drawn = (...paths: (string | null)[]): string[] =>
  layOut(paths.map((path) => at(path))).hubs.map(({ path, ports }) => {
    const shown = ports.map((port) => {
      if (port.kind === 'slot') return `${port.port}=${port.slots.map(({ slot }) => slot).join('+')}`;
      return port.kind === 'hub' ? `${port.port}=hub ${port.path}` : `${port.port}=empty`;
    });
    return `${path}: ${shown.join(' ')}`;
  });

t.test('hubs have their ports in order, with what is empty between', async (t) => {
  t.same(drawn('1-1.4', '1-1.1', '1-1.2'), ['1-1: 1=1-1.1 2=1-1.2 3=empty 4=1-1.4']);
});

t.test('a modem without a hub is in a port of its bus, before the hubs', async (t) => {
  t.same(drawn('2-1.1', '1-3', '1-10.1', '1-2.1'), [
    'usb1: 1=empty 2=hub 1-2 3=1-3 4=empty 5=empty 6=empty 7=empty 8=empty 9=empty 10=hub 1-10',
    '1-2: 1=1-2.1',
    '1-10: 1=1-10.1',
    '2-1: 1=2-1.1',
  ]);
});

t.test('a hub in a hub is shown where it is plugged in, one with hubs alone is not', async (t) => {
  t.same(drawn('1-1.1', '1-1.3.1', '1-4.4.2'), [
    '1-1: 1=1-1.1 2=empty 3=hub 1-1.3',
    '1-1.3: 1=1-1.3.1',
    '1-4.4: 1=empty 2=1-4.4.2',
  ]);
});

t.test('a port of a high number does not make a page of empty ones', async (t) => {
  const [hub] = layOut([at('1-1.255')]).hubs;
  t.equal(hub?.ports.length, 33);
  t.match(hub?.ports.at(-1), { port: 255, kind: 'slot' });
});

t.test('slots at no USB port, and paths that are none, are beside the hubs', async (t) => {
  const { hubs, others } = layOut([at(null, 'bench-10'), at(null, 'bench-2'), at('../etc', 'odd')]);
  t.same(hubs, []);
  t.same(
    others.map(({ slot }) => slot),
    ['bench-2', 'bench-10', 'odd'],
  );
});
