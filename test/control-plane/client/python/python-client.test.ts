// The Python client against a real service: buying, signing in, texts, waits and calls, with threads of asyncio and without; and its wheel.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { MOVED_NOTHING } from '#shared/api/payment-rejections.ts';
import { FRAME_BYTES } from '#shared/voice/media.ts';
import { ALICE } from '../../../dev-stack/wallets.ts';
import { received } from '../../../fixtures/agents/subscriber.ts';
import { telephone } from '../../../fixtures/agents/telephone.ts';
import { PYTHON } from '../../../fixtures/foreign-program.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { closePayments } from '../../../fixtures/payments/closed-payments.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { temporaryFolder } from '../../../fixtures/temporary-folder.ts';
import { until } from '../../../fixtures/until.ts';
import { PROJECT_FOLDER } from '../../../tidy/sources.ts';

const CLIENT = join(PROJECT_FOLDER, 'control-plane/client/python');
const hasPackages = spawnSync(PYTHON, ['-c', 'import ecdsa, Cryptodome.Hash.keccak']).status === 0;
const skip = hasPackages ? false : 'python3-ecdsa and python3-pycryptodome are not installed';

const rig = await createRig();

type Step = { step: string } & Record<string, unknown>;

/** Runs a program beside this file, and returns its lines by step. `onStep` is called with each as it comes. */
async function run(t: Test, args: string[], env: Record<string, string>, onStep: (step: Step) => void) {
  const [program = '', ...rest] = args;
  const child = spawn(PYTHON, [join(PROJECT_FOLDER, 'test/control-plane/client/python', program), ...rest], {
    env: { PATH: String(process.env['PATH']), PYTHONPATH: CLIENT, PYTHONDONTWRITEBYTECODE: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  const steps: Record<string, unknown> = {};
  createInterface(child.stdout).on('line', (line) => {
    const { step, ...fields } = JSON.parse(line) as Step;
    steps[step] = fields;
    onStep({ step, ...fields });
  });
  const [status] = (await once(child, 'close')) as [number];
  t.equal(status, 0, stderr);
  return steps;
}

t.test('wrong arguments are named, and their values are not shown', { skip }, async (t) => {
  const { wrong } = await run(t, ['wrong_arguments.py'], {}, () => undefined);
  const { messages, octets } = wrong as { messages: string[]; octets: number };
  t.equal(octets, 6, 'of three samples in a view of 16 bit numbers');
  t.same(messages, [
    'TypeError: base_url must be a string, not NoneType',
    'ValueError: not an HTTP URL, such as https://host: 127.0.0.1:8080',
    'TypeError: token must be a string, not int',
    'TypeError: signer must be a signer, such as KeySigner(private_key), not str',
    'TypeError: max_amount must be an int, such as 1_800_000_000, not float',
    'ValueError: private_key must be a string of 64 hexadecimal digits, with or without 0x',
    'TypeError: body must be a string, not NoneType',
    'TypeError: timeout must be a number of seconds, not str',
    'TypeError: match must be a function, not str',
    'TypeError: limit must be an int, such as 20, not str',
    'TypeError: call_id must be a string, not NoneType',
    'TypeError: since must be a time with a zone, not datetime',
    'TypeError: message_id must be an int, such as 20, not str',
    'TypeError: to must be a string, not int',
    'TypeError: audio must be bytes of an even length: 16 bit samples, not bytes',
  ]);
});

t.test('the Python client buys once, signs in, texts and waits; refusals are typed', { skip }, async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  const node = await rig.connect(t, url, { slots: [slotAt(1)] });
  const number = slotAt(1).number;
  const env = { SIMRACK_URL: url, WALLET_KEY: ALICE.privateKey };
  const steps = await run(t, ['messages.py'], env, ({ step }) => {
    if (step === 'waiting') {
      node.sendFact(1, received('Order 48213 shipped'));
      node.sendFact(2, received('Your code is 417209'));
    }
    if (step !== 'async waiting') return;
    node.sendFact(3, received('G-8842 is your code'));
    node.sendFact(4, received('@example.com #747723'));
  });
  t.match(steps, {
    dear: { error: ['NotPayable', 'not_payable', null, null] },
    poor: { error: ['PaymentRefused', 'insufficient_funds', 402, null] },
    bought: { number, renewed: false },
    resumed: { recovered: true },
    revoked: { error: ['Unauthorized', 'unauthorized', 401, null] },
    elsewhere: { error: ['InvalidAnswer', 'invalid_answer', null, null] },
    number: { number },
    empty: { error: ['InvalidRequest', 'invalid_request', 400, 'body'] },
    emergency: { error: ['InvalidRequest', 'destination_not_allowed', 400] },
    away: { error: ['Unreachable', 'unreachable', null, null] },
    sent: { status: 'queued' },
    late: { error: ['Timeout', 'timeout', null, null] },
    code: { code: '417209' },
    held: { bodies: ['Order 48213 shipped'] },
    receipts: { sequences: [1] },
    history: { bodies: ['Your code is 417209', 'Order 48213 shipped', 'hello ✓'] },
    'async number': { number },
    'async empty': { error: ['InvalidRequest', 'invalid_request', 400, 'body'] },
    // A wait that was cancelled before has not claimed it.
    'async code': { code: '8842' },
    'async origin': { code: '747723', origin: 'https://example.com' },
    'async history': {
      bodies: [
        '@example.com #747723',
        'G-8842 is your code',
        'Your code is 417209',
        'Order 48213 shipped',
        'hello ✓',
      ],
    },
  });
  await closePayments(databaseUrl);
  const { payment } = steps['bought'] as { payment: string };
  const resumed = await run(t, ['messages.py'], { ...env, PAYMENT: payment }, () => undefined);
  const used = {
    status: 409,
    code: 'payment_already_used',
    message: /closed this payment.*Contact the service/,
  };
  t.match(resumed, { used });
});

for (const way of ['sync', 'async']) {
  t.test(`the stream of a call, ${way}: audio both ways, marks, and its end`, async (t) => {
    const { line, token, url } = await telephone(t, rig);
    let dialled = '';
    let isPlayed = false;
    const running = run(t, ['calls.py', way], { SIMRACK_URL: url, TOKEN: token }, ({ step, call_id }) => {
      if (step === 'dialled') dialled = String(call_id);
      if (step === 'played') isPlayed = true;
    });
    await until('dialled', () => dialled !== '');
    line.answer(dialled);
    const media = await until('the media link', () => line.media);
    await until('all was played', () => {
      media.capture(Buffer.alloc(FRAME_BYTES, 7));
      return isPlayed;
    });
    line.end(line.calls[0] ?? line.ring(), { reason: 'remote_hangup', cause: 16 });
    t.match(await running, {
      refused: { code: 'unauthorized' },
      played: { name: 'spoken' },
      ended: { heard: true, code: 1000 },
    });
    t.same(media.heard.subarray(0, 3200), Buffer.alloc(3200, 3));
  });
}

t.test('a wait goes on after the page of a proxy, and ends with one that is no restart', async (t) => {
  const program = `
from simrack_client.errors import InvalidAnswer
from simrack_client.flows import Flows, Pause, Request, Response
flow = Flows("token", "127.0.0.1", None).wait_for_message(30, None, None)
for status in (502, 503, 504):
    assert isinstance(next(flow), Request)
    assert isinstance(flow.send(Response(status, {}, None)), Pause)
next(flow)
try:
    flow.send(Response(404, {}, None))
except InvalidAnswer as error:
    print(error.status)
`;
  const env = { PATH: String(process.env['PATH']), PYTHONPATH: CLIENT, PYTHONDONTWRITEBYTECODE: '1' };
  const ran = spawnSync(PYTHON, ['-c', program], { env, encoding: 'utf8' });
  t.equal(ran.stdout, '404\n', ran.stderr);
});

t.test('only the service’s own refusals of a payment end it', async (t) => {
  const program = `
import json, sys
from simrack_client.errors import SimrackError
from simrack_client.flows import Flows, Pause, Request, Response, _MOVED_NOTHING
class Signer:
    address = "0x" + "1" * 40
    def sign_message(self, text): return "0x"
def refused(status, error, **more): return Response(status, {}, {"error": error, **more})
def end_of(*answers):
    flow, sent = Flows(None, "127.0.0.1", None).subscribe(Signer(), 1, None, "the payment", None, 1), []
    step = next(flow)
    try:
        for answer in answers:
            assert isinstance(step, Request), step
            if step.path == "/subscribe": sent.append(step.headers.get("X-PAYMENT"))
            step = flow.send(answer)
        return sent, "goes on" if isinstance(step, Pause) else step
    except SimrackError as error:
        return sent, error.code, getattr(error, "payment", None)
proxy = {"timeout": (408, "request timeout"), "price": (402, "insufficient_funds"), "page": (403, "forbidden")}
issued = Response(200, {}, {"nonce": "n1", "message": "Sign in to x SMS\\nNonce: n1"})
used = refused(409, "payment_already_used", message="Used.")
print(json.dumps({
    **{name: end_of(refused(*answer)) for name, answer in proxy.items()},
    "own": end_of(refused(402, "insufficient_funds", message="Too little.")),
    "sign-in": end_of(used, issued, refused(401, "signature_mismatch", message="The nonce has expired.")),
    "over": end_of(used, issued, refused(402, "no_active_subscription", message="None.")),
    "codes": _MOVED_NOTHING,
}))
`;
  const env = { PATH: String(process.env['PATH']), PYTHONPATH: CLIENT, PYTHONDONTWRITEBYTECODE: '1' };
  const ran = spawnSync(PYTHON, ['-c', program], { env, encoding: 'utf8' });
  const { codes, ...ends } = JSON.parse(ran.stdout || ran.stderr) as Record<string, unknown>;
  const pending = [['the payment'], 'settlement_pending', 'the payment'];
  t.same(ends, {
    timeout: pending,
    price: pending,
    page: pending,
    own: [['the payment'], 'insufficient_funds', null],
    'sign-in': pending,
    over: [['the payment'], 'payment_already_used', null],
  });
  t.same(codes, MOVED_NOTHING, 'the list of the other client');
});

t.test('the wheel is one that pip installs and Python imports', async (t) => {
  const folder = temporaryFolder(t);
  const env = { PATH: String(process.env['PATH']), PYTHONDONTWRITEBYTECODE: '1' };
  const built = spawnSync(PYTHON, [join(CLIENT, 'build_wheel.py'), folder], { env, encoding: 'utf8' });
  t.equal(built.status, 0, built.stderr);
  const [wheel = ''] = readdirSync(folder);
  const path = join(folder, wheel);
  const imported = spawnSync(PYTHON, ['-c', 'import simrack_client; print(simrack_client.__file__)'], {
    env: { ...env, PYTHONPATH: path },
    encoding: 'utf8',
  });
  t.match(imported.stdout, wheel, imported.stderr);
  if (spawnSync(PYTHON, ['-m', 'pip', '--version']).status !== 0) return;
  const target = join(folder, 'installed');
  const args = ['-m', 'pip', 'install', '--no-index', '--no-deps', '--quiet', '--target', target, path];
  const installed = spawnSync(PYTHON, args, { env, encoding: 'utf8' });
  t.equal(installed.status, 0, installed.stderr);
  t.ok(readdirSync(target).includes('simrack_client'));
});
