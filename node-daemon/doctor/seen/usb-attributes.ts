// Reads further attributes of a USB device from sysfs: power, speed, configuration, and the hub above it.
import { join } from 'node:path';
import type { Clock } from '#shared/clock.ts';
import { hubPortOf } from '../../usb/operator-command.ts';
import type { UsbDevice } from '../../usb/usb-device.ts';
import { attributeAt, isSelfPowered, numberOf } from './usb-sysfs.ts';

interface HubAttributes {
  readonly path: string;
  /** Whether the hub is part of the host. */
  readonly isRoot: boolean;
  /** Whether it has its own power supply; `undefined` if unknown. */
  readonly isSelfPowered: boolean | undefined;
  /** The current that the hub itself draws. */
  readonly maxPowerMa: number | undefined;
  readonly speedMbps: number | undefined;
}

/** `undefined` stands for a value that the kernel does not report. */
export interface UsbAttributes {
  readonly usbPath: string;
  /** `power/control`: "on", or "auto" for autosuspend. */
  readonly powerControl: string | undefined;
  /** The maximum that it requests. */
  readonly maxPowerMa: number | undefined;
  readonly speedMbps: number | undefined;
  /** The USB version that it supports, such as 2. */
  readonly usbVersion: number | undefined;
  /** Null: the kernel did not configure the device, usually for lack of power. */
  readonly configuration: number | null | undefined;
  readonly serial: string | undefined;
  /** Number of times that the hub turned its port off since the host started. */
  readonly overCurrents: number | undefined;
  readonly hub: HubAttributes;
}

/** Reads the attributes that exist. Never rejects. */
export async function readUsbAttributes(
  { usbPath }: UsbDevice,
  { sysfsRoot, clock }: { sysfsRoot: string; clock: Clock },
): Promise<UsbAttributes> {
  const devices = join(sysfsRoot, 'bus/usb/devices');
  const read = (name: string): Promise<string | undefined> => attributeAt(join(devices, name), clock);
  const of = (attribute: string): Promise<string | undefined> => read(`${usbPath}/${attribute}`);
  const { hub, port } = hubPortOf(usbPath);
  const isRoot = !hub.includes('-');
  const hubPath = isRoot ? `usb${hub}` : hub;
  const portFolder = isRoot ? `${hub}-0:1.0/${hubPath}-port${port}` : `${hub}:1.0/${hub}-port${port}`;
  const ofHub = Promise.all(['bmAttributes', 'bMaxPower', 'speed'].map((name) => read(`${hubPath}/${name}`)));
  const [powerControl, power, speed, version, configuration, serial, overCurrents] = await Promise.all([
    of('power/control'),
    of('bMaxPower'),
    of('speed'),
    of('version'),
    of('bConfigurationValue'),
    of('serial'),
    read(`${portFolder}/over_current_count`),
  ]);
  const [hubFlags, hubPower, hubSpeed] = await ofHub;
  return {
    usbPath,
    powerControl,
    serial,
    maxPowerMa: numberOf(power),
    speedMbps: numberOf(speed),
    usbVersion: numberOf(version),
    // The attribute is empty while the device is not configured.
    configuration: configuration === '' || configuration === '0' ? null : numberOf(configuration),
    overCurrents: numberOf(overCurrents),
    hub: {
      path: hubPath,
      isRoot,
      isSelfPowered: isSelfPowered(hubFlags),
      maxPowerMa: numberOf(hubPower),
      speedMbps: numberOf(hubSpeed),
    },
  };
}
