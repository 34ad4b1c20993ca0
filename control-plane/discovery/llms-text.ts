// /llms.txt: everything that a language model needs to use the service (llmstxt.org), also as a skill for agents.
import { createHash } from 'node:crypto';
import { OPERATION, type Operation } from '#shared/api/operations.ts';
import { REFUSALS } from '#shared/api/refusals.ts';
import { pricesText } from '../payments/offer.ts';
import { voiceText } from './voice-text.ts';
import type { DiscoveryParts } from './well-known.ts';

/** Refusals that only nodes get. */
const OF_NODES = new Set(['enrolment_refused', 'node_revoked', 'approval_pending']);

export function llmsText({ baseUrl, sale, serviceName }: DiscoveryParts): string {
  const price = pricesText(sale.offers);
  const socketUrl = baseUrl.replace(/^http/, 'ws');
  const operations = (Object.values(OPERATION) as Operation[]).map(
    ({ auth, method, path, summary }) =>
      `- \`${method.toUpperCase()} ${path}\`${auth === 'bearer' ? ' (token)' : ''}: ${summary}`,
  );
  return `# ${serviceName}

> A real US mobile number for a year (${price}), paid by one HTTP request with a wallet, for SMS and voice calls. The wallet is
> the account: no sign-up, no API key.

## Get a number

1. \`GET ${baseUrl}/availability\`: \`available\` must be 1 or more.
2. \`POST ${baseUrl}/subscribe\` without a body returns 402 with the payment options: x402 version 1 in the body, version 2 in the header
   \`PAYMENT-REQUIRED\`, MPP in \`WWW-Authenticate\`. Any x402 or MPP client can pay it. Read amounts and addresses from it, and never
   hardcode them.
3. Repeat the request with the payment: 200 with \`token\`, \`number\`, \`expires_at\`. Keep the token secret.
4. Pay with a wallet that you keep. The number belongs to it and cannot be recovered without it. Never use a temporary wallet.
5. After a timeout, 503 \`settlement_pending\` or 409 \`payment_already_used\`: do not pay again. Sign in (below).
   With x402 version 2 and the extension \`payment-identifier\`, send the same payment again: it returns the same token.
6. To renew, pay again with the same wallet: it adds a year to the same number (\`renewed: true\`). There is a limit (409 \`paid_ahead\`).
   To get a token, sign in. Do not pay again.
7. A smart account can pay too (EIP-1271, EIP-7702, ERC-6492). It signs in with the account's own signature, on the network that it paid on.

## Lost token

\`POST ${baseUrl}/auth/nonce\`, check that its \`message\` names this service, sign it with the wallet (EIP-191 personal_sign), then
\`POST ${baseUrl}/auth\` with \`{"wallet", "nonce", "signature"}\`. All earlier tokens of the wallet stop working.

## Use it

Send \`Authorization: Bearer <token>\`. Bodies are JSON.

- Text: \`POST /sms/send\` with \`{"to": "+1…", "body": "…"}\`. One SMS: 160 characters of GSM 7-bit, or
  70 if any character is outside it, such as a curly quote, a long dash or an emoji. Write plain quotes and dashes. A longer text is 400
  with \`max_units\` and \`ucs2_characters\`: send several, such as "(1/2) …" and "(2/2) …" (the MCP tool \`split_text\` makes them). Text only, no pictures.
- Wait for a text: \`GET /sms/receive\` every few seconds, or the MCP tool \`receive_sms\` with \`wait_seconds\`. Each message is delivered
  once. \`GET /sms/messages\` shows all of them again.
- One-time code: \`code\` of a received text, null if it is not certain. Enter it only at \`code_origin\` if that is set. The MCP tool
  \`wait_for_code\` waits for one. Use codes only for your own accounts, or with the consent of your user.
- Or have texts, statuses and calls posted to you: \`POST /webhooks\` with \`{"url": "https://…"}\`. The answer has the secret of the signatures
  (Standard Webhooks). Answer 2xx at once. The same event may come twice: its \`webhook-id\` stays.
- Delete: \`DELETE /sms/messages/{id}\`, or \`DELETE /sms/messages\` for all of them (\`direction\`, \`since\` and \`until\` select some). This cannot be undone.
- Numbers in the US and its territories can be texted and called, unless the operator allows others. Emergency, premium, personal and
  short-code numbers are always refused.

${voiceText(socketUrl)}

## Refusals

\`{"error": "<code>", "message": "…"}\`. Switch on \`error\`. 429 and 503 have \`Retry-After\`: the seconds until you may try again.
${Object.entries(REFUSALS)
  .filter(([code]) => !OF_NODES.has(code))
  .map(([code, { action, meaning, status }]) => `- ${status} \`${code}\`: ${meaning} ${action}`)
  .join('\n')}

## Operations

${operations.join('\n')}

## More

- [OpenAPI](${baseUrl}/openapi.json): every field and status
- [AsyncAPI](${baseUrl}/asyncapi.json): the WebSockets
- [MCP](${baseUrl}/mcp): the same operations as tools; [card](${baseUrl}/.well-known/mcp/server-card.json)
- \`POST ${baseUrl}/demo\`: example responses, without paying
`;
}

const NAME = 'phone-number';
const DESCRIPTION =
  'Get a real US mobile number, send and receive SMS with it, and place and take voice calls. Use when a task needs a telephone number: verification codes, texts or calls.';

/** A skill for agents: when to use a telephone number, and how. The description is quoted, because a colon followed by a space would begin another key. */
export const skillText = (parts: DiscoveryParts): string =>
  `---\nname: ${NAME}\ndescription: ${JSON.stringify(DESCRIPTION)}\n---\n\n${llmsText(parts)}`;

export const skillIndex = (parts: DiscoveryParts) => ({
  skills: [
    {
      name: NAME,
      type: 'skill-md',
      description: DESCRIPTION,
      url: `${parts.baseUrl}/.well-known/agent-skills/${NAME}/SKILL.md`,
      digest: `sha256:${createHash('sha256').update(skillText(parts)).digest('hex')}`,
    },
  ],
});
