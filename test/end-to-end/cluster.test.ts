// Any part of a service with three instances dies under traffic: no text, no call and no cent is lost by it.
import t, { type Test } from 'tap';
import { BUYERS, type Wallet } from '../dev-stack/wallets.ts';
import { request } from '../fixtures/network/json-request.ts';
import { buyNumber } from '../fixtures/payments/payer.ts';
import { skipWithoutNats } from '../fixtures/service/nats.ts';
import { isWhole, shuffled } from '../fixtures/sweep.ts';
import { until } from '../fixtures/until.ts';
import { type CallView, putFarEnd } from '../hardware-sim/fixtures/call-terminal.ts';
import { post } from '../hardware-sim/fixtures/http.ts';
import { type Cluster, startCluster } from './cluster/cluster.ts';
import { FAULTS, type Fault } from './cluster/faults.ts';
import { Payer } from './cluster/payers.ts';
import { Pushes } from './cluster/pushes.ts';
import { ask } from './cluster/request.ts';
import { Talk } from './cluster/talk.ts';
import { type Account, Texts } from './cluster/texts.ts';
import { Watchers } from './cluster/watchers.ts';

const ECHOES = ['+13105550171', '+13105550172', '+13105550173'] as const;
const ROUNDS_OF_SMALL_PART = 2;
const TRAFFIC_TIMEOUT_MS = 60_000;
/** Default of the service. */
const STREAM_HOLD_MS = 5_000;
const TIMEOUT_MS = { small: 380_000, whole: 1_800_000 } as const;

interface Person extends Account {
  wallet: Wallet;
  expiresAt: string;
}

async function people({ url }: Cluster): Promise<Person[]> {
  const bought: Person[] = [];
  for (const wallet of BUYERS) {
    const { token, number, expires_at: expiresAt } = await buyNumber(url, wallet.privateKey);
    bought.push({ wallet, number, expiresAt, headers: { Authorization: `Bearer ${token}` } });
  }
  return bought;
}

/** Calls of two people whose clients are at two instances, and rings of a third. */
class Calls {
  readonly #cluster: Cluster;
  readonly #ringing: Person;
  readonly #watchers: Watchers;
  readonly #known = new Set<string>();
  /** Calls of each number. */
  readonly #placed = new Map<string, number>();
  #people: readonly Person[] = [];
  readonly #urls: string[];
  /** Those that go on in every round. */
  talks: Talk[] = [];
  readonly #all: Talk[] = [];

  constructor(cluster: Cluster, ringing: Person) {
    this.#cluster = cluster;
    this.#ringing = ringing;
    this.#urls = cluster.instances.map(({ url }) => url);
    this.#watchers = new Watchers(this.#urls, ringing);
  }

  async begin(dialing: Person, called: Person): Promise<void> {
    this.#people = [dialing, called];
    const { url, simulatorUrl } = this.#cluster;
    for (const number of ECHOES) await putFarEnd(simulatorUrl, number, { audio: 'echo' });
    const dialed = await ask(`${url}/voice/dial`, {
      headers: dialing.headers,
      method: 'POST',
      body: { phone_number: dialing.number, to: ECHOES[0] },
    });
    if (dialed.status !== 200) throw new Error(JSON.stringify(dialed));
    this.talks.push(this.#talk(String(dialed.body['call_id']), { place: 0, account: dialing }));
    await post(`${simulatorUrl}/calls`, { from: ECHOES[1], to: called.number });
    const callId = await until('the call rings', async () => {
      const { body } = await ask(`${url}/voice/calls`, { headers: called.headers });
      return (body['calls'] as Array<{ call_id: string }>)[0]?.call_id;
    });
    this.talks.push(this.#talk(callId, { place: 1, account: called }));
    await this.goOn('at the beginning');
  }

  async goOn(what: string): Promise<void> {
    await Promise.all(this.talks.map((talk) => talk.goesOn(what)));
  }

  /** A call rings during the fault: each presence client sees it, and it is answered. */
  async ring(what: string): Promise<void> {
    const { simulatorUrl } = this.#cluster;
    await post(`${simulatorUrl}/calls`, { from: ECHOES[2], to: this.#ringing.number });
    const callId = await this.#watchers.ringing(this.#known, what);
    this.#known.add(callId);
    const talk = this.#talk(callId, { place: 2, account: this.#ringing });
    await talk.goesOn(what);
    await talk.end();
  }

  /** Ends what runs, also after a failure. */
  async stop(): Promise<void> {
    await Promise.all([this.#watchers.stop(), ...this.#all.map((talk) => talk.end())]);
  }

  async end(): Promise<void> {
    await this.stop();
    await until('the carrier has no call', async () => {
      const { body } = await request(`${this.#cluster.simulatorUrl}/calls`);
      return (body as CallView[]).every(({ state }) => state === 'ended');
    });
  }

  /** After `end`: each call has one record, which says that its client ended it. */
  async check(t: Test): Promise<void> {
    for (const { headers, number } of [...this.#people, this.#ringing]) {
      const expected = this.#placed.get(number) ?? 0;
      const records = await until('the records of all calls have their end', async () => {
        const { body } = await ask(`${this.#cluster.url}/voice/calls?limit=100`, { headers });
        const calls = body['calls'] as Array<{ call_id: string; state: string; reason: string }>;
        return calls.every(({ state }) => state === 'ended') ? calls : undefined;
      });
      t.same(
        records.map(({ reason }) => reason),
        Array.from({ length: expected }, () => 'local_hangup'),
        `${expected} calls, each hung up by its client`,
      );
    }
  }

  #talk(callId: string, parts: { place: number; account: Account }): Talk {
    const { number } = parts.account;
    this.#placed.set(number, (this.#placed.get(number) ?? 0) + 1);
    const talk = new Talk(callId, { urls: this.#urls, ...parts });
    this.#all.push(talk);
    return talk;
  }
}

async function round(
  t: Test,
  { cluster, calls, texts, payer }: { cluster: Cluster; calls: Calls; texts: readonly Texts[]; payer: Payer },
  fault: Fault,
): Promise<void> {
  const what = `after: ${fault.name}`;
  await cluster.ready();
  await calls.goOn(`before: ${fault.name}`);
  const places = calls.talks.map((talk) => talk.place);
  for (const talk of calls.talks) talk.takeFigures();
  const rung = calls.ring(what);
  // It fails while the fault is awaited.
  rung.catch(() => undefined);
  await fault.run(cluster);
  await Promise.all([
    cluster.ready(),
    rung,
    calls.goOn(what),
    ...texts.map((one) => one.move(what, TRAFFIC_TIMEOUT_MS)),
    payer.pays(what),
  ]);
  for (const [index, talk] of calls.talks.entries()) {
    const { breaks, longestSilenceMs } = talk.takeFigures();
    const where = `stream at instance ${Number(places[index]) + 1}`;
    t.comment(`${fault.name}: ${where}: ${breaks} breaks, at most ${longestSilenceMs} ms without echo`);
    const silenceMaxMs = (fault.silentMs ?? 0) + STREAM_HOLD_MS;
    t.ok(longestSilenceMs <= silenceMaxMs, `${fault.name}: the ${where} is heard again in time`);
    if (fault.dies !== places[index]) t.equal(breaks, 0, `${fault.name}: the ${where} stays open`);
  }
}

t.test(
  'three instances: whatever dies, no fact is lost or doubled, no call ends, no cent is missing',
  {
    timeout: isWhole() ? TIMEOUT_MS.whole : TIMEOUT_MS.small,
    skip: skipWithoutNats(),
  },
  async (t) => {
    const order = shuffled(t, FAULTS);
    const faults = isWhole() ? order : order.slice(0, ROUNDS_OF_SMALL_PART);
    const cluster = await startCluster(t, { modems: BUYERS.length });
    const [alice, bob, carol, dave, erin] = (await people(cluster)) as [
      Person,
      Person,
      Person,
      Person,
      Person,
    ];
    const pushes = await Pushes.start(t, cluster, alice);
    const ofAlice = new Texts({ ...cluster, account: alice }, { name: 'alice', isWaited: false });
    const texts = [ofAlice, new Texts({ ...cluster, account: bob }, { name: 'bob', isWaited: true })];
    const payer = await Payer.start(cluster, erin.wallet, erin.expiresAt);
    const calls = new Calls(cluster, erin);
    t.teardown(() => Promise.all([...texts.map((one) => one.stop()), payer.stop(), calls.stop()]));
    await calls.begin(carol, dave);
    for (const fault of faults) await round(t, { cluster, calls, texts, payer }, fault);
    await Promise.all([...texts.map((one) => one.stop()), payer.stop()]);
    await calls.end();
    await calls.check(t);
    for (const one of texts) await one.check(t);
    await pushes.check(t, ofAlice.delivered);
    await payer.check(t);
  },
);
