// The files that programs fetch before they call, with path, media type and text.
import type { Sale } from '../payments/offer.ts';
import { agentCard } from './agent-card.ts';
import { asyncApiDocument } from './async-api-document.ts';
import { llmsText, skillIndex, skillText } from './llms-text.ts';
import { openApiDocument } from './open-api-document.ts';
import { PROTECTED_RESOURCES, protectedResource } from './protected-resource.ts';
import { serverCard, serverJson } from './server-card.ts';
import {
  API_CATALOG_PATH,
  apiCatalog,
  type DiscoveryParts,
  securityText,
  x402Manifest,
} from './well-known.ts';

export interface DiscoveryFile {
  path: `/${string}`;
  mediaType: string;
  /** The text at a given time: one of the files contains its expiry. */
  text(now: Date): string;
}

const JSON_TYPE = 'application/json';
const TEXT_TYPE = 'text/plain; charset=utf-8';
const MARKDOWN_TYPE = 'text/markdown; charset=utf-8';

export function discoveryFiles(parts: DiscoveryParts): DiscoveryFile[] {
  const { sale, securityContact } = parts;
  const file = (path: DiscoveryFile['path'], mediaType: string, text: string): DiscoveryFile => ({
    path,
    mediaType,
    text: () => text,
  });
  /** A file with the offers, some of which are known only once their chain responds. */
  const priced = (path: DiscoveryFile['path'], mediaType: string, write: () => string): DiscoveryFile => {
    let written: { offers: Sale['offers']; text: string } | undefined;
    const text = (): string => {
      if (written?.offers !== sale.offers) written = { offers: sale.offers, text: write() };
      return written.text;
    };
    return { path, mediaType, text };
  };
  const json = (path: DiscoveryFile['path'], document: unknown, mediaType = JSON_TYPE): DiscoveryFile =>
    file(path, mediaType, JSON.stringify(document));
  const card = serverCard(parts);
  return [
    priced('/openapi.json', JSON_TYPE, () => JSON.stringify(openApiDocument(parts))),
    json('/asyncapi.json', asyncApiDocument(parts)),
    priced('/llms.txt', MARKDOWN_TYPE, () => llmsText(parts)),
    priced('/.well-known/x402', JSON_TYPE, () => JSON.stringify(x402Manifest(parts))),
    json(API_CATALOG_PATH, apiCatalog(parts), 'application/linkset+json'),
    ...PROTECTED_RESOURCES.map(({ path, resource }) => json(path, protectedResource(parts, resource))),
    priced('/.well-known/agent-card.json', JSON_TYPE, () => JSON.stringify(agentCard(parts))),
    json('/server.json', serverJson(parts)),
    json('/.well-known/mcp/server-card.json', card),
    json('/.well-known/mcp.json', card),
    // SEP-2127: the card is next to the server that it describes.
    json('/mcp/server-card', card, 'application/mcp-server-card+json'),
    json('/.well-known/agent-skills/index.json', skillIndex(parts)),
    file('/.well-known/agent-skills/phone-number/SKILL.md', MARKDOWN_TYPE, skillText(parts)),
    // Agents that are given the address of the service alone ask for it here.
    file('/SKILL.md', MARKDOWN_TYPE, skillText(parts)),
    ...(securityContact === undefined
      ? []
      : [
          {
            path: '/.well-known/security.txt' as const,
            mediaType: TEXT_TYPE,
            text: (now: Date) => securityText(parts, securityContact, now),
          },
        ]),
  ];
}
