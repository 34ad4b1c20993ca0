// Addresses of the console's own pages.
import type { PicturedSlot } from '../../store/fleet/fleet-picture.ts';

export const numberPath = (number: string): string => `/numbers/${encodeURIComponent(number)}`;
export const nodePath = (node: string): string => `/nodes/${encodeURIComponent(node)}`;
export const slotPath = ({ node, slot }: Pick<PicturedSlot, 'node' | 'slot'>): string =>
  `${nodePath(node)}/slot?name=${encodeURIComponent(slot)}`;
export const paymentPath = (id: string): string => `/payments/${encodeURIComponent(id)}`;
