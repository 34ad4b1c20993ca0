// The page for people: the service, its price, its use, and a demo without payment.
import type { AnswerOf, OPERATION } from '#shared/api/operations.ts';
import { Html, html } from '#shared/html.ts';
import { page } from './page.ts';

interface LandingPageParts {
  baseUrl: string;
  serviceName: string;
  /** Formatted for people: "1,800 USDC". */
  price: string;
  /** The limit to set in a payment client: "1800". */
  priceDollars: string;
  available: number;
  demo: AnswerOf<typeof OPERATION.demo>;
  files: Readonly<Record<string, string>>;
}

interface Step {
  title: string;
  text: string;
  language: 'javascript' | 'shell';
  code: string;
}

export function landingPage(parts: LandingPageParts): string {
  const { files, serviceName } = parts;
  const description =
    'A real US mobile number for AI agents and people, for a year. A wallet pays with one HTTP request. SMS, and voice as raw 16 kHz audio.';
  return page(
    {
      title: `${serviceName}: a US mobile number for your agent`,
      description,
      serviceName,
      files,
      isInteractive: true,
    },
    html`${hero(parts)}${howItWorks(parts)}${forAgents(parts)}${goodToKnow()}${waitlist(parts)}`,
  );
}

/** The waveform of a voice: the loudness of a word and a half. */
const VOICE = new Html(
  `<svg viewBox="0 0 160 30" preserveAspectRatio="none" aria-hidden="true">${Array.from(
    { length: 40 },
    (_, bar) => {
      const height = 3 + 24 * Math.abs(Math.sin(bar / 6.1) * Math.sin(bar * 1.7));
      return `<rect fill="currentColor" x="${bar * 4}" width="2" rx="1" y="${(15 - height / 2).toFixed(1)}" height="${height.toFixed(1)}"/>`;
    },
  ).join('')}</svg>`,
);

function hero({ available, demo, price }: LandingPageParts): Html {
  const { simulated_receive: received, simulated_subscribe: got } = demo;
  return html`<div class="wide hero">
<div>
<h1>A real US mobile number, for your agent.</h1>
<p class="lead">One HTTP request, paid by a wallet, gets you a SIM in our rack for a year. It sends and receives texts and calls. Your wallet’s signature is the only login: no account, no password, no form.</p>
<dl class="facts">
<div><dt>a year</dt><dd>${price}</dd></div>
<div><dt>numbers available now</dt><dd class="${available > 0 ? 'some' : 'none'}"><span class="pulse" aria-hidden="true">●</span> <span id="left">${available}</span></dd></div>
</dl>
<div class="actions"><a class="button" href="#steps">Get a number</a><button class="plain" id="run" type="button" hidden>Run the demo</button></div>
</div>
<div class="phone" role="group" aria-label="The demo">
<header><strong id="plate">${got.number}</strong><span>example: nothing is sent</span></header>
<div id="screen" aria-live="polite">
<p class="bubble out">Hello from my agent.</p>
${received.messages.map(({ body }) => html`<p class="bubble in">${body}</p>`)}
<p class="call"><span>Call, 0:42</span>${VOICE}<span>16 kHz</span></p>
</div>
</div>
</div>`;
}

function howItWorks({ baseUrl, price, priceDollars }: LandingPageParts): Html {
  const steps: Step[] = [
    {
      title: 'Pay',
      text: `Request a number. The response is a 402 with all payment options: x402 or MPP, ${price}. A payment client does the rest. The number belongs to the wallet, so use one that you keep.`,
      language: 'javascript',
      code: `import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';

const client = new x402Client();
registerExactEvmScheme(client, { signer: wallet }); // an account of viem
client.setSpendControls({ maxAmountPerPayment: '$${priceDollars}' });

const pay = wrapFetchWithPayment(fetch, client);
// To renew the number for another year, pay again with the same wallet.
const bought = await pay('${baseUrl}/subscribe', { method: 'POST' });
const { token, number, expires_at } = await bought.json();`,
    },
    {
      title: 'Text',
      text: 'Send messages, and claim received ones. Each message is returned once, to the first claim. The history shows all messages.',
      language: 'shell',
      code: `curl ${baseUrl}/sms/send -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{"to": "+13105550188", "body": "Hello from my agent."}'

curl ${baseUrl}/sms/receive -H "Authorization: Bearer $TOKEN"`,
    },
    {
      title: 'Call',
      text: 'Dial, then open the stream: 16 kHz PCM both ways, ready for a speech model. Closing it hangs up. Inbound calls ring on the presence socket. Bots for Twilio Media Streams and for Vonage connect without changes.',
      language: 'javascript',
      code: `import WebSocket from 'ws';

const headers = { Authorization: \`Bearer \${token}\`, 'Content-Type': 'application/json' };
const dialled = await fetch('${baseUrl}/voice/dial', {
  method: 'POST',
  headers,
  body: JSON.stringify({ phone_number: number, to: '+13105550188' }),
});
const { stream_url } = await dialled.json();

const call = new WebSocket(stream_url, { headers });
call.on('message', (heard) => call.send(heard)); // 20 ms each: an echo`,
    },
    {
      title: 'Sign in again',
      text: 'If you lose the token, sign a text with the wallet that paid. It is free, needs no transaction, and gets you a new token. To keep the number, pay again before the year ends or within the grace period.',
      language: 'javascript',
      code: `const asked = await fetch('${baseUrl}/auth/nonce', { method: 'POST' });
const { nonce, message } = await asked.json();
const signature = await wallet.signMessage({ message });

const signedIn = await fetch('${baseUrl}/auth', {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ wallet: wallet.address, nonce, signature }),
});
const { token: newToken } = await signedIn.json();`,
    },
  ];
  return html`<section id="steps" aria-labelledby="steps-title"><div class="wide">
<h2 id="steps-title">Four requests are all you need</h2>
<p>Plain HTTP and WebSockets. Every answer is JSON, and every error has a code to switch on.</p>
<ol class="steps">
${steps.map(
  ({ code, language, text, title }) =>
    html`<li><div><h3>${title}</h3><p>${text}</p></div>${codeBlock(code, title, language)}</li>`,
)}
</ol>
</div></section>`;
}

const codeBlock = (code: string, title: string, language: string): Html =>
  html`<div class="code"><header><span>${language}</span><button class="copy" type="button" aria-label="Copy: ${title}" hidden>Copy</button></header><pre tabindex="0" role="region" aria-label="Code: ${title}">${code}</pre></div>`;

function forAgents({ baseUrl }: LandingPageParts): Html {
  const configuration = JSON.stringify(
    {
      mcpServers: {
        simrack: { type: 'http', url: `${baseUrl}/mcp`, headers: { Authorization: 'Bearer <token>' } },
      },
    },
    null,
    2,
  );
  return html`<section id="agents" aria-labelledby="agents-title"><div class="wide">
<h2 id="agents-title">Made for programs</h2>
<p>An MCP server has tools to send a message, wait for one, and dial. OpenAPI describes every request, and llms.txt describes the service to a model. The same token works everywhere.</p>
<ol class="steps"><li><div><h3>MCP</h3><p>Put this into the configuration of your client. Without a token, the tools still show the price and availability.</p></div>${codeBlock(configuration, 'MCP', 'json')}</li></ol>
</div></section>`;
}

function goodToKnow(): Html {
  const facts = [
    [
      'A mobile number, not VoIP',
      'A SIM of a US carrier in a modem. Codes and callers reach it like any phone.',
    ],
    [
      'Each message once',
      'A received message is on disk before the modem deletes it. A claim returns each message to one reader only.',
    ],
    [
      'No charge without a number',
      'A number is reserved before anything is charged. If no number is available, nothing is charged. The same payment never counts twice.',
    ],
    [
      'The wallet is the account',
      'The wallet’s signature controls the number. If you lose the wallet, the number cannot be recovered.',
    ],
    ['Abandoned calls end', 'If your program or its network fails, the service hangs up.'],
    [
      'No emergency calls',
      'The service refuses 911, other emergency numbers and premium numbers. Do not rely on it in an emergency.',
    ],
  ];
  return html`<section aria-labelledby="know-title"><div class="wide">
<h2 id="know-title">Good to know</h2>
<div class="grid">${facts.map(([title = '', text = '']) => html`<div><h3>${title}</h3><p>${text}</p></div>`)}</div>
</div></section>`;
}

function waitlist({ available }: LandingPageParts): Html {
  return html`<section id="waitlist" aria-labelledby="waitlist-title"><div class="wide">
<h2 id="waitlist-title">${available > 0 ? 'Join the waitlist' : 'All numbers are taken'}</h2>
<p>Leave your address to get one mail when numbers are available again. You get no other mail.</p>
<form id="waitlist-form" method="post" action="/waitlist">
<label>E-mail<input type="email" name="email" required maxlength="254" autocomplete="email"></label>
<button type="submit">Notify me</button>
</form>
<output id="waitlist-answer" for="waitlist-form"></output>
</div></section>`;
}
