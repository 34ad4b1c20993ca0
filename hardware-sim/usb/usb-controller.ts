// The host controllers of the simulated buses, as PCI devices in sysfs.
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** PCI vendor and product by name: the xHCI of QEMU, of Intel's Cannon Lake chipsets, and the VIA VL805 of the Raspberry Pi 4. */
const CONTROLLERS = {
  qemu: ['1b36', '000d'],
  intel: ['8086', 'a36d'],
  vl805: ['1106', '3483'],
} as const;

export type UsbControllerName = keyof typeof CONTROLLERS;
export const USB_CONTROLLERS = Object.keys(CONTROLLERS) as [UsbControllerName, ...UsbControllerName[]];

/** Makes the folder of the controller of a bus, and returns it. Idempotent. */
export function writeController(sysFolder: string, name: UsbControllerName, bus: number): string {
  const folder = join(sysFolder, 'devices/pci0000:00', `0000:${bus.toString(16).padStart(2, '0')}:00.0`);
  if (existsSync(folder)) return folder;
  const driver = join(sysFolder, 'bus/pci/drivers/xhci_hcd');
  for (const each of [folder, driver]) mkdirSync(each, { recursive: true });
  const [vendor, device] = CONTROLLERS[name];
  writeFileSync(join(folder, 'vendor'), `0x${vendor}\n`);
  writeFileSync(join(folder, 'device'), `0x${device}\n`);
  symlinkSync(driver, join(folder, 'driver'));
  return folder;
}
