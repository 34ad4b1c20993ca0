// Strangers write what we decode: whatever the bytes, the only error is TpduError.
import t from 'tap';
import { decodeReceived } from '#node-daemon/sms/tpdu.ts';
import { TpduError } from '#node-daemon/sms/tpdu-error.ts';
import { randomFrom } from '../../fixtures/seeded-random.ts';
import { isWhole } from '../../fixtures/sweep.ts';
import { randomSeed } from '../../history/seed.ts';

const RUNS = isWhole() ? 1_000_000 : 100_000;

const SAMPLES = [
  '07915155000000F0440B915155000010F20008521121110000000B0608041234020100410042',
  '07915155000000F0440B915155000010F2000052112111000000090500032A02018242',
  '07915155000000F0040BD0C7E7F3C82C0200005211211100000002C834',
  '07915155000000F006070B915155000010F2521121110000005211211100000000',
  // Locking and single shift of Turkish, ports, a lamp for voice mail.
  '07915155000000F0440B915155000010F200005211211100000012060325010124010182428242824282',
  '07915155000000F0440B915155000010F2000452112111000000090605040B8423F04869',
  '07915155000000F0440B915155000010F200C85211211100000005040102800300',
];

t.test('random octets and damaged TPDUs decode or are a TpduError', async (t) => {
  const seed = Number(process.env['FUZZ_SEED'] ?? randomSeed());
  t.comment(`FUZZ_SEED=${seed}`);
  const random = randomFrom(seed);
  const tally = { decoded: 0, refused: 0 };
  for (let run = 0; run < RUNS; run += 1) {
    const sample = Buffer.from(SAMPLES[random(SAMPLES.length)] ?? '', 'hex');
    const octets =
      run % 2 === 0 ? Buffer.from(Array.from({ length: random(40) }, () => random(256))) : sample;
    if (run % 2 === 1)
      for (let hit = random(6); hit >= 0; hit -= 1) octets[random(octets.length)] = random(256);
    const pdu = octets.subarray(0, 1 + random(octets.length + 8)).toString('hex');
    try {
      const decoded = decodeReceived(pdu);
      tally.decoded += 1;
      if (decoded.kind === 'deliver' && decoded.from.length > 20)
        t.fail(`a sender of ${decoded.from.length}`);
    } catch (error) {
      tally.refused += 1;
      if (!(error instanceof TpduError)) t.fail(`${pdu}: ${error}`);
    }
  }
  t.ok(tally.decoded > RUNS / 20 && tally.refused > RUNS / 20, `both happen: ${JSON.stringify(tally)}`);
});
