// Addresses of the console's own pages.
import type { LinkTarget } from '#shared/operator/listing.ts';

export const numberPath = (number: string): string => `/numbers/${encodeURIComponent(number)}`;
export const nodePath = (node: string): string => `/nodes/${encodeURIComponent(node)}`;
export const slotPath = ({ node, slot }: { node: string; slot: string }): string =>
  `${nodePath(node)}/slot?name=${encodeURIComponent(slot)}`;
export const paymentPath = (id: string): string => `/payments/${encodeURIComponent(id)}`;

export function actionPathOf(target: LinkTarget): string {
  if ('number' in target) return numberPath(target.number);
  if ('probesOf' in target)
    return `/probes/all?${new URLSearchParams([...Object.entries(target.probesOf)]).toString()}`;
  if ('payment' in target) return paymentPath(target.payment);
  const { node, slot } = target;
  return slot === undefined ? nodePath(node) : slotPath({ node, slot });
}
