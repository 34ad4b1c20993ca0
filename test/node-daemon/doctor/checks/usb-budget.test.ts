// Endpoints of host controllers: figures that people reported of real hosts, and trees that the simulator shows.
import { writeFileSync } from 'node:fs';
import t from 'tap';
import { SLOT_CHECKS } from '#node-daemon/doctor/checks/all-checks.ts';
import { usbEndpoints } from '#node-daemon/doctor/checks/usb-budget.ts';
import type { UsbNode } from '#node-daemon/doctor/seen/usb-topology.ts';
import { findingOf, startExaminedRack } from '../examined-rack.ts';
import { EC25, hostView, seen, slotView } from '../seen.ts';

const INTEL = '8086:a36d';
const VL805 = '1106:3483';
const HUAWEI_ID = '12d1:1001';
const EC25_ID = '2c7c:0125';

const node = (path: string, differs: Partial<UsbNode> = {}): UsbNode => ({
  path,
  bus: '1',
  id: EC25_ID,
  isConfigured: true,
  endpoints: 14,
  maxPowerMa: 500,
  isSelfPowered: false,
  speedMbps: 480,
  ...differs,
});
const hub = (path: string): UsbNode => node(path, { id: '05e3:0610', endpoints: 1 });
const several = (count: number, differs: Partial<UsbNode> = {}): UsbNode[] =>
  Array.from({ length: count }, (_, index) => node(`1-1.${index + 1}`, differs));

function judge(
  nodes: readonly UsbNode[],
  pciId: string | undefined,
  driver: string | undefined = 'xhci_hcd',
) {
  const controllers = [{ name: '0000:00:14.0', buses: ['1', '2'], driver, pciId }];
  return usbEndpoints(seen({ host: hostView({ topology: { controllers, nodes } }) }));
}

t.test('Intel: 96 endpoints, which 32 devices with 3 each fill (mvp/uhubctl#276)', async (t) => {
  const device = { id: HUAWEI_ID, endpoints: 2 };
  t.match(judge(several(31, device), INTEL), { verdict: 'ok', seen: /93 of 96 endpoints.*holds 1 more/ });
  t.match(judge(several(32, device), INTEL), { verdict: 'warning', seen: /96 of 96.*holds no more/ });
  const refused = node('1-9', { ...device, endpoints: 0, isConfigured: false });
  t.match(judge([...several(32, device), refused], INTEL), {
    verdict: 'problem',
    seen: /no room for 1-9, which the kernel did not turn on/,
    advice: /PCIe card/,
  });
  t.match(judge(several(33, device), INTEL), { verdict: 'problem', seen: /99 of 96/ });
});

t.test(
  'EC25 with interfaces of 2, 3, 3, 3 and 3 endpoints, as the kernel lists them: six behind a hub',
  async (t) => {
    t.match(judge([hub('1-1'), ...several(5)], INTEL), { verdict: 'ok', seen: /holds 1 more/ });
    t.match(judge([hub('1-1'), ...several(6)], INTEL), { verdict: 'warning', seen: /92 of 96/ });
  },
);

t.test('Raspberry Pi 4: 32 devices, hubs included (raspberrypi/linux#3366)', async (t) => {
  const modems = [hub('1-1'), hub('1-2'), ...several(29)];
  t.match(judge(modems, VL805), { verdict: 'ok', seen: /31 of 32 devices.*holds 1 more/ });
  t.match(judge([...modems, node('1-3')], VL805), { verdict: 'warning' });
});

t.test('a controller whose limit is unknown, another kind of controller, no tree', async (t) => {
  t.match(judge(several(40), '1b21:2142'), { verdict: 'ok', seen: /600 endpoints.*limit is not known/ });
  t.match(judge(several(40), undefined), { verdict: 'ok', seen: /limit is not known/ });
  t.match(judge(several(40), INTEL, 'ehci-pci'), { verdict: 'skipped' }, 'its schedules are in memory');
  t.match(usbEndpoints(seen()), { verdict: 'skipped' });
});

t.test('hubs in a row', async (t) => {
  const depth = (usbPath: string) =>
    SLOT_CHECKS['usb_depth']?.(slotView({ device: { ...EC25, usbPath } }), seen());
  t.match(depth('1-2'), { verdict: 'ok', seen: 'at a port of the host' });
  t.match(depth('1-1.1.4'), { verdict: 'ok', seen: 'behind 2 hubs' });
  t.match(depth('1-1.1.1.1.1.1'), { verdict: 'warning', seen: /as many as USB allows/ });
  t.match(depth('1-1.1.1.1.1.1.1'), { verdict: 'problem' });
});

t.test('trees in sysfs', async (t) => {
  const few = await startExaminedRack(t, { modems: 2, usbController: 'intel' });
  t.match(findingOf(await few.examine(), 'usb_endpoints'), {
    verdict: 'ok',
    seen: 'controller 0000:01:00.0 (8086:a36d), bus 1: 32 of 96 endpoints, 3 devices, 2 modems; it holds 4 more',
  });
  const makes = ['quectel', 'simcom', 'huawei', 'huawei-e303'] as const;
  const mixed = await startExaminedRack(t, { modems: 4, makes });
  t.match(findingOf(await mixed.examine(), 'usb_endpoints'), {
    // 15 + 18 + 10 + 10 with the storage of each stick, and the hub.
    seen: /: 55 endpoints, 5 devices, 4 modems; its limit is not known/,
  });
  const many = await startExaminedRack(t, { modems: 7, usbController: 'intel' });
  writeFileSync(many.sysfs('1-1.7', 'bConfigurationValue'), '\n');
  t.match(findingOf(await many.examine(), 'usb_endpoints'), {
    verdict: 'problem',
    seen: /no room for 1-1\.7/,
  });
});
