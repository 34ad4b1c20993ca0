// Buys a number, sends a text, waits for the answer, and calls with audio.
// npm i viem @x402/fetch @x402/evm ws
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';
import WebSocket from 'ws';

const { SIMRACK_URL: url, WALLET_KEY: key, TO: to } = process.env;
if (!url || !key || !to) throw new Error('Set SIMRACK_URL, WALLET_KEY and TO.');

async function answerOf(response) {
  const answer = await response.json();
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

// 1. Subscribe. The client reads the price from the 402, signs, and sends the request again.
const client = registerExactEvmScheme(new x402Client(), { signer: privateKeyToAccount(key) });
client.setSpendControls({ maxAmountPerPayment: '$1800' });
const pay = wrapFetchWithPayment(fetch, client);
const { token, number } = await answerOf(await pay(`${url}/subscribe`, { method: 'POST' }));
console.log('number', number);

const headers = { Authorization: `Bearer ${token}` };
const post = async (path, body) =>
  answerOf(
    await fetch(url + path, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    }),
  );

// 2. Send a text.
const sent = await post('/sms/send', { to, body: 'Hello from JavaScript' });
console.log('sent', sent.status);

// 3. Wait for a text. Each one is returned once.
let messages = [];
while (messages.length === 0) {
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  ({ messages } = await answerOf(await fetch(`${url}/sms/receive`, { headers })));
}
console.log('received', messages[0].body);

// 4. Call, send a second of silence when the far end answers, and hang up by closing the stream.
const call = await post('/voice/dial', { phone_number: number, to });
const stream = new WebSocket(call.stream_url, ['voice.v1'], { headers });
stream.on('message', (data, isBinary) => {
  if (isBinary) return; // 640 bytes: 20 ms of what the far end says
  const event = JSON.parse(data);
  console.log('call', event.type);
  if (event.type === 'answered') {
    stream.send(Buffer.alloc(32_000)); // 16 bit, mono, 16,000 samples a second
    stream.send(JSON.stringify({ type: 'mark', name: 'played' }));
  }
  if (event.type === 'mark') stream.close(); // all audio before the mark was played
});
await new Promise((resolve) => stream.on('close', resolve));
console.log('ended');
