// A receptionist: OpenAI's voice model answers calls, and texts you what callers want.
// npm i @openai/agents @openai/agents-extensions ws zod <path of simrack-client-0.1.0.tgz>
// Beside it: simrack bridge ws://127.0.0.1:5050
import { TwilioRealtimeTransportLayer } from '@openai/agents-extensions';
import { RealtimeAgent, RealtimeSession, tool } from '@openai/agents/realtime';
import { SimrackClient } from 'simrack-client';
import { WebSocketServer } from 'ws';
import { z } from 'zod';

const { OPENAI_API_KEY: apiKey, OPENAI_REALTIME_URL: url, PORT = '5050' } = process.env;
const { SIMRACK_URL: baseUrl, SIMRACK_TOKEN: token, OWNER: owner } = process.env;
const client = new SimrackClient({ baseUrl, token });

const takeMessage = tool({
  name: 'take_message',
  description: 'Sends a message of the caller to the owner.',
  parameters: z.object({ name: z.string(), message: z.string() }),
  async execute({ name, message }) {
    await client.sendLong({ to: owner, body: `${name}: ${message}` });
    console.log(`message of ${name}`);
    return 'The owner has the message.';
  },
});

const agent = new RealtimeAgent({
  name: 'Receptionist',
  instructions: 'You answer the phone. Ask the caller for a name and a message, and take the message.',
  tools: [takeMessage],
});

const format = { type: 'audio/pcmu' }; // of a telephone; the default of a session is another one
const audio = { input: { format }, output: { format } };

const server = new WebSocketServer({ host: '127.0.0.1', port: Number(PORT) });
server.on('listening', () => console.log(`ready at ws://127.0.0.1:${server.address().port}`));
server.on('connection', async (socket) => {
  const transport = new TwilioRealtimeTransportLayer({ twilioWebSocket: socket });
  const session = new RealtimeSession(agent, { transport, config: { audio } });
  session.on('error', ({ error }) => console.error(error));
  socket.on('close', () => session.close());
  try {
    await session.connect({ apiKey, url });
    transport.sendEvent({ type: 'response.create' }); // it speaks first
  } catch (error) {
    console.error(error);
    socket.close(1011, 'no model');
  }
});
