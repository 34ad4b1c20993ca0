// The description of a device on the USB bus: ids, strings, interfaces.

/** Role of a serial interface. Only `at` and `at2` answer commands; the others read and discard all input. */
export type SerialRole = 'at' | 'at2' | 'pcm' | 'diag' | 'nmea';

/** One interface; numbers in hex as sysfs shows them. */
export interface UsbInterface {
  /** `bInterfaceNumber`, from 0. */
  number: number;
  class: string;
  subclass: string;
  protocol: string;
  /** `bNumEndpoints` of its current setting. */
  endpoints: number;
  /** Absent: no terminal belongs to it, as with network and storage. */
  serial?: SerialRole;
  /** Its sound card belongs to it: the control interface of the audio class. */
  isSound?: boolean;
}

export interface UsbDescription {
  /** Four hex digits, lower case. */
  vendorId: string;
  productId: string;
  manufacturer: string;
  product: string;
  interfaces: readonly UsbInterface[];
}

/** A vendor-specific interface. Most have an interrupt endpoint and one for data in each direction. */
export function vendorInterface(
  number: number,
  subclassAndProtocol: `${string}/${string}`,
  serial?: SerialRole,
  endpoints = 3,
): UsbInterface {
  const [subclass = '', protocol = ''] = subclassAndProtocol.split('/');
  return { number, class: 'ff', subclass, protocol, endpoints, ...(serial === undefined ? {} : { serial }) };
}

/**
 * The three interfaces of a card that records and plays (USB audio class 1.0 §4), numbered from the first. Those for audio have an endpoint
 * only while audio flows.
 */
export function soundInterfaces(first: number): UsbInterface[] {
  return [
    { number: first, class: '01', subclass: '01', protocol: '00', endpoints: 0, isSound: true },
    { number: first + 1, class: '01', subclass: '02', protocol: '00', endpoints: 0 },
    { number: first + 2, class: '01', subclass: '02', protocol: '00', endpoints: 0 },
  ];
}

/** Bulk-only mass storage with SCSI commands (USB mass storage class specification §4.3). */
export const STORAGE_INTERFACE: UsbInterface = {
  number: 0,
  class: '08',
  subclass: '06',
  protocol: '50',
  endpoints: 2,
};
