// Costs and earnings of SIMs in a month: by SIM, and by node or carrier.
import type { Listing } from '#shared/operator/listing.ts';
import type { Json } from '#shared/operator/procedure.ts';
import { type CostGroup, monthResultOf, shownEarned } from '../../domain/month-totals.ts';
import { listedNumber } from '../../domain/shown-value.ts';
import type { SimCostRow } from '../../store/cards/sim-costs.ts';
import { carrierCell, nodeCell, numberCell } from './cells.ts';

export const COSTS: Listing<Json<SimCostRow>> = {
  name: 'costs',
  title: 'Costs',
  empty: 'No SIMs in that month.',
  columns: [
    { title: 'ICCID', cell: ({ iccid }) => iccid },
    { title: 'Number', cell: ({ number, is_sold }, { isFull }) => numberCell(number, is_sold && !isFull) },
    { title: 'Label', cell: ({ label }) => label },
    { title: 'Node', cell: ({ node }) => nodeCell(node) },
    { title: 'SIM carrier', cell: ({ carrier }) => carrierCell(carrier) },
    { title: 'Plan', cell: ({ plan }) => plan },
    { title: 'Cost', cell: ({ cost }) => cost },
    { title: 'Earned', cell: ({ earned }) => shownEarned(earned) },
    { title: 'Result', cell: (row) => monthResultOf(row) },
  ],
  masked: (row) => ({ ...row, number: row.number && listedNumber(row.number, row.is_sold) }),
};

const groupsBy = (by: 'node' | 'carrier'): Listing<Json<CostGroup>> => ({
  name: 'costs',
  title: 'Costs',
  empty: 'No SIMs in that month.',
  columns: [
    {
      title: by === 'node' ? 'Node' : 'SIM carrier',
      cell: ({ name }) => (by === 'node' ? nodeCell(name) : carrierCell(name)),
    },
    { title: 'SIMs', cell: ({ sims }) => String(sims) },
    { title: 'Sold', cell: ({ sold }) => String(sold) },
    { title: 'Without cost', cell: ({ unpriced }) => String(unpriced) },
    { title: 'Cost', cell: ({ cost }) => cost },
    { title: 'Earned', cell: ({ earned }) => shownEarned(earned) },
    { title: 'Result', cell: (row) => monthResultOf(row) },
  ],
});

export const COST_GROUPS = { node: groupsBy('node'), carrier: groupsBy('carrier') } as const;
