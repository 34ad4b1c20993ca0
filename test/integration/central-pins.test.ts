// PINs of the fleet file, the real daemon and simulated cards: unlocked by the control plane, and a wrong PIN costs one try.
import t from 'tap';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import { openTestDatabase } from '../fixtures/database/test-database.ts';
import { createRig } from '../fixtures/service/rig.ts';
import { openTestOperator } from '../fixtures/service/test-operator.ts';
import { rackStack } from '../fixtures/stacks/rack-stack.ts';
import { until } from '../fixtures/until.ts';

const TIMEOUT = { timeout: 380_000 };
const UNLOCK_MS = 90_000;
const rig = await createRig();

t.test('the right PIN opens a card, also after a restart; a wrong one costs one try', TIMEOUT, async (t) => {
  const stack = await rackStack(t, rig, { modems: 2 });
  const { available, databaseUrl, simulator, startDaemonAgain, stopDaemon, url } = stack;
  const operator = await openTestOperator(t, { databaseUrl, url });
  const db = await openTestDatabase(t, databaseUrl);
  const pinStateOf = async (iccid: string) =>
    (await db.selectFrom('cards').select('pin_state').where('iccid', '=', iccid).executeTakeFirst())
      ?.pin_state;
  const [one, two] = simulator.modems;
  if (one === undefined || two === undefined) throw new Error('there are not two modems');
  const slots = async () => (await operator.call('slots', { limit: 10 })).rows;
  const troubleOf = async (iccid: string) => (await slots()).find((slot) => slot.iccid === iccid)?.trouble;
  const apply = (iccid: string, pin: string) =>
    operator.call('applyFleet', { cards: [{ line: 1, iccid, pin }] });
  const [first, second] = [one.identity.iccid, two.identity.iccid];

  await stopDaemon();
  one.play(parseFault({ kind: 'sim', state: 'pin' }));
  two.play(parseFault({ kind: 'sim', state: 'pin' }));
  await startDaemonAgain();
  await until('locked', async () => (await troubleOf(first)) === 'sim_pin', UNLOCK_MS);
  await apply(first, '1234');
  await until('the first card is open', async () => (await available()) === 1, UNLOCK_MS);
  t.equal(one.equipment.sim.tries.pin, 3);

  await apply(second, '4321');
  await until('refused', async () => (await troubleOf(second)) === 'sim_pin_wrong', UNLOCK_MS);
  t.equal(two.equipment.sim.tries.pin, 2, 'one try');

  // Corrected while the daemon runs. First the refused PIN again: the daemon does not repeat it.
  await operator.call('retryPin', { card: { iccid: second } });
  await until('the node has it again', async () => (await pinStateOf(second)) === 'sent', UNLOCK_MS);
  t.equal(two.equipment.sim.tries.pin, 2, 'a refused PIN is not repeated');
  await apply(second, '1234');
  await until('the corrected PIN', async () => (await available()) === 2, UNLOCK_MS);
  await until('it is right', async () => (await pinStateOf(second)) === 'right', UNLOCK_MS);
  t.equal(two.equipment.sim.tries.pin, 3);

  // The daemon stores no PIN: it gets the proved one again, and does not enter the one that was refused before.
  await stopDaemon();
  await apply(second, '4321');
  one.restart();
  two.restart();
  await startDaemonAgain();
  await until('open again', async () => (await available()) === 1, UNLOCK_MS);
  await until('still locked', async () => (await troubleOf(second)) === 'sim_pin_wrong', UNLOCK_MS);
  t.equal(two.equipment.sim.tries.pin, 3, 'no further try');
  await apply(second, '1234');
  await until('the corrected PIN', async () => (await available()) === 2, UNLOCK_MS);
});
