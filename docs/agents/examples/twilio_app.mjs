// An app that is written for Twilio, moved over by one line: it reminds a guest, and calls when asked to. npm i twilio
// Beside it: simrack bridge --api 127.0.0.1:2010 --texts http://127.0.0.1:3000/sms. FROM is your number, TO the guest's, BOT_URL your bot's.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import twilio from 'twilio';

const { TWILIO_ACCOUNT_SID: sid, TWILIO_AUTH_TOKEN: token, FROM: from, TO: to } = process.env;
const { API_URL = 'http://127.0.0.1:2010', BOT_URL: bot, PORT = '3000' } = process.env;
const app = `http://127.0.0.1:${PORT}`;
const { MessagingResponse, VoiceResponse } = twilio.twiml;

const client = twilio(sid, token);
client.api.baseUrl = API_URL; // This is the line.

const routes = {
  async '/sms'({ From: guest, Body: body }) {
    const response = new MessagingResponse();
    if (!/^call/i.test(body)) response.message('See you at 8!');
    else {
      const call = { from, to: guest, url: `${app}/voice`, statusCallback: `${app}/status` };
      await client.calls.create(call);
    }
    return response.toString();
  },
  '/voice'() {
    const response = new VoiceResponse();
    response.connect().stream({ url: bot });
    return response.toString();
  },
  '/status'({ MessageStatus: message, CallStatus: call }) {
    console.log(message === undefined ? `call ${call}` : `text ${message}`);
    return '';
  },
};

const server = createServer(async (request, response) => {
  const fields = Object.fromEntries(new URLSearchParams(await text(request)));
  const signature = request.headers['x-twilio-signature'] ?? '';
  if (!twilio.validateRequest(token, signature, app + request.url, fields)) {
    response.writeHead(403).end();
    return;
  }
  const twiml = await routes[request.url]?.(fields);
  response.writeHead(twiml === undefined ? 404 : 200, { 'Content-Type': 'text/xml' }).end(twiml);
});

server.listen(Number(PORT), '127.0.0.1', async () => {
  const body = 'Your table is ready at 8. Reply OK, or CALL to talk to us.';
  await client.messages.create({ from, to, body, statusCallback: `${app}/status` });
});
