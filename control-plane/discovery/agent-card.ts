// The card of the service for agents that search for others (A2A 1.0 §4.4.1, /.well-known/agent-card.json).
import { pricesText } from '../payments/offer.ts';
import type { DiscoveryParts } from './well-known.ts';

/**
 * Identifies the interface as one of MCP. A2A §5.8 names interfaces other than its own three by a URI, so that a client without MCP finds
 * no interface that it can use, instead of sending messages of A2A to the tools.
 */
const MCP_BINDING = 'https://modelcontextprotocol.io/specification/2025-11-25';

/** Version of the card's format. */
const A2A_VERSION = '1.0';

const JSON_TYPE = 'application/json';
const TOKEN_NEEDED = [{ schemes: { bearer: { list: [] } } }];

export const agentCard = ({ baseUrl, sale, serviceName }: DiscoveryParts) => ({
  name: serviceName,
  description:
    'Sells real US mobile numbers for a year, paid by wallet, and serves them: text messages and voice calls. ' +
    `The interface is a server of MCP with tools. ${baseUrl}/llms.txt describes the same operations over HTTP.`,
  supportedInterfaces: [
    { url: `${baseUrl}/mcp`, protocolBinding: MCP_BINDING, protocolVersion: A2A_VERSION },
  ],
  provider: { organization: serviceName, url: baseUrl },
  version: '1.0.0',
  documentationUrl: `${baseUrl}/llms.txt`,
  capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false },
  securitySchemes: {
    bearer: {
      httpAuthSecurityScheme: {
        scheme: 'Bearer',
        description:
          'The token of POST /subscribe (a payment) or POST /auth (a signature of the wallet that paid).',
      },
    },
  },
  defaultInputModes: [JSON_TYPE],
  defaultOutputModes: [JSON_TYPE],
  skills: [
    {
      id: 'buy-number',
      name: 'Buy a US mobile number',
      description: `A number for a year: ${pricesText(sale.offers)}. POST ${baseUrl}/subscribe returns 402 with the payment options of x402 and MPP.`,
      tags: ['phone-number', 'x402', 'mpp', 'payment'],
      examples: ['Get a phone number for this account.'],
    },
    {
      id: 'texts',
      name: 'Send and receive text messages',
      description: 'Sends a text from the number, and waits for texts to it, such as verification codes.',
      tags: ['sms', 'verification-code', 'phone-number'],
      examples: ['Wait for the verification code and give it to me.'],
      securityRequirements: TOKEN_NEEDED,
    },
    {
      id: 'calls',
      name: 'Place and take voice calls',
      description: 'Dials from the number and takes calls to it. Audio is a WebSocket with 16 kHz PCM.',
      tags: ['voice', 'call', 'phone-number'],
      examples: ['Call this number and ask for the opening hours.'],
      securityRequirements: TOKEN_NEEDED,
    },
  ],
});
