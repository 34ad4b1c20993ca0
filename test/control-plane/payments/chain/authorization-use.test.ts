// How far back the log is searched for the use of an authorization.
import t from 'tap';
import { authorizationUses } from '#control-plane/payments/chain/authorization-use.ts';
import { PAY_TO } from '../../../dev-stack/wallets.ts';
import { storableAuthorization } from '../../../fixtures/chain/authorizations.ts';

const HEAD = 10_000_000n;
const DAY_S = 24n * 60n * 60n;
const BLOCK_S = 2n;

type Parts = Parameters<typeof authorizationUses>;

/** A log without any use. `depth`: how far back it was asked for. */
function searched() {
  const asked: Array<{ fromBlock: bigint; toBlock: bigint }> = [];
  const client = {
    getBlockNumber: async () => HEAD,
    getContractEvents: async ({ fromBlock, toBlock }: { fromBlock: bigint; toBlock: bigint }) => {
      asked.push({ fromBlock, toBlock });
      return [];
    },
  };
  const head = async () => ({ number: HEAD, timestamp: 0n });
  const { findUse } = authorizationUses(...([client, { head, relayers: [] }] as unknown as Parts));
  return {
    findUse,
    depth: () => HEAD - (asked.at(-1)?.fromBlock ?? HEAD),
  };
}

for (const overSinceS of [0n, 10n * DAY_S])
  t.test(`${overSinceS / DAY_S} days after its end: back to a day before the end`, async (t) => {
    const { depth, findUse } = searched();
    t.equal(await findUse(storableAuthorization(PAY_TO.address), overSinceS), undefined);
    t.ok(depth() >= (overSinceS + DAY_S) / BLOCK_S, `${depth()} blocks`);
  });
