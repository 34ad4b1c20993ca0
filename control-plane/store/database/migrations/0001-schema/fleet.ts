// Nodes, the SIMs they hold, and numbers.

export const FLEET = [
  // One enrollment code per node: a new code voids the previous one. code_key is the key that used it.
  `create table nodes (
    id text primary key,
    link_id text,
    link_alive_until timestamptz,
    public_key bytea,
    enrolled_at timestamptz,
    revoked_at timestamptz,
    code_hash bytea unique,
    code_expires_at timestamptz,
    code_key bytea,
    alarms text[] not null default '{}',
    unheld_messages bigint not null default 0,
    journal_depth integer,
    approval_pending_since timestamptz,
    claims_suspended_at timestamptz,
    new_sims text[] not null default '{}',
    new_sims_since timestamptz,
    new_sims_approved_at timestamptz
  )`,
  `create table journals (
    node_id text not null,
    journal_id text not null,
    acknowledged bigint not null,
    begun_at timestamptz not null default clock_timestamp(),
    primary key (node_id, journal_id)
  )`,
  `create table link_proofs (
    node_id text not null,
    random text not null,
    expires_at timestamptz not null,
    primary key (node_id, random)
  )`,
  'create index link_proofs_by_expiry on link_proofs (expires_at)',
  `create table node_events (
    id bigint generated always as identity primary key,
    node_id text not null,
    slot text not null,
    kind text not null,
    detail text not null,
    at timestamptz not null,
    received_at timestamptz not null
  )`,
  'create index node_events_by_node on node_events (node_id, id)',
  // A number belongs to a SIM (ICCID), in whichever node or slot it is.
  `create table numbers (
    number text primary key,
    iccid text not null,
    created_at timestamptz not null,
    out_of_service_at timestamptz,
    out_of_service_reason text,
    retired_at timestamptz,
    quarantined_until timestamptz,
    unadmitted_since timestamptz,
    unproven text check (unproven in ('holder', 'moved', 'number')),
    first_node text,
    disputed_since timestamptz
  )`,
  // The SIM of a retired number may get another number.
  'create unique index numbers_by_iccid on numbers (iccid) where retired_at is null',
  // SIMs of other nodes that report the same number without proof.
  `create table number_rivals (
    iccid text primary key,
    number text not null references numbers (number) on delete cascade,
    since timestamptz not null
  )`,
  'create index number_rivals_of_number on number_rivals (number)',
  `create table sims (
    iccid text primary key,
    node_id text not null,
    slot text not null,
    device_id text,
    state text not null,
    operator text,
    signal_dbm integer,
    updated_at timestamptz not null,
    model text,
    usb_path text,
    reason text,
    -- Not a reference: a SIM that is bound to a subscription that is gone is bound to none.
    bound_to text,
    storage_used integer,
    storage_total integer,
    swept_at timestamptz
  )`,
  'create index sims_by_node on sims (node_id)',
  // Every slot of each node's last report, with or without a SIM. Details of a SIM that the node holds are in sims.
  `create table slots (
    node_id text not null references nodes (id) on delete cascade,
    slot text not null,
    state text not null,
    reason text,
    iccid text,
    voice_settings jsonb,
    primary key (node_id, slot)
  )`,
  `create table sim_tenures (
    id bigint generated always as identity primary key,
    iccid text not null,
    node_id text not null references nodes (id) on delete cascade,
    slot text not null,
    since timestamptz not null,
    until timestamptz,
    sighting text not null check (sighting in ('present', 'lost', 'unseen')),
    sighting_since timestamptz not null,
    taken_from text,
    moved_from text
  )`,
  'create unique index sim_tenures_open on sim_tenures (iccid) where until is null',
  'create index sim_tenures_of_node on sim_tenures (node_id) where until is null',
  'create index sim_tenures_history on sim_tenures (iccid, until)',
  'create index sim_tenures_moved on sim_tenures (node_id) where moved_from is not null',
  `create table sim_claims (
    node_id text not null references nodes (id) on delete cascade,
    iccid text not null,
    slot text not null,
    cause text not null check (cause in ('contested', 'waiting', 'barred', 'suspended', 'expected_elsewhere')),
    since timestamptz not null,
    contested_since timestamptz,
    seen_at timestamptz not null,
    primary key (node_id, iccid)
  )`,
  `create table node_refusals (
    node_id text not null references nodes (id) on delete cascade,
    reason text not null check (reason in ('claims', 'facts', 'calls', 'numbers', 'frames', 'reports')),
    count bigint not null,
    last_at timestamptz not null,
    primary key (node_id, reason)
  )`,
  `create table waiting_facts (
    fact_key text primary key,
    position bigint generated always as identity,
    node_id text not null references nodes (id) on delete cascade,
    iccid text not null,
    fact jsonb not null,
    received_at timestamptz not null
  )`,
  'create index waiting_facts_of_sim on waiting_facts (node_id, iccid)',
  // When former subscribers had a number and its SIM.
  `create table former_holdings (
    number text not null,
    iccid text not null,
    held_from timestamptz not null,
    held_until timestamptz not null,
    primary key (number, iccid)
  )`,
  'create index former_holdings_by_sim on former_holdings (iccid)',
  `create table slot_service (
    node_id text not null references nodes (id) on delete cascade,
    slot text not null,
    out_of_service_at timestamptz,
    reason text,
    by text check (by in ('operator', 'probe')),
    judged_from timestamptz,
    primary key (node_id, slot),
    check ((out_of_service_at is null) = (reason is null) and (reason is null) = (by is null))
  )`,
  // SIM cards as the fleet file describes them. pin: sealed with the key file of the service, never in the clear.
  `create table cards (
    iccid text primary key,
    label text,
    carrier text,
    plan text,
    plan_expires date,
    monthly_cost numeric(8, 2) check (monthly_cost >= 0),
    pin text,
    pin_state text check (pin_state in ('untried', 'sent', 'right', 'wrong')),
    pin_node text,
    pin_sent_at timestamptz,
    pin_reason text,
    updated_at timestamptz not null,
    check ((pin is null) = (pin_state is null))
  )`,
  'create index cards_by_plan_end on cards (plan_expires) where plan_expires is not null',
  // Cost and earnings of each SIM in a month. Written while the month lasts, and kept as it was at its end.
  `create table sim_months (
    month date not null,
    iccid text not null,
    number text,
    label text,
    node_id text,
    carrier text,
    plan text,
    cost numeric(8, 2),
    earned jsonb not null,
    is_sold boolean not null,
    primary key (month, iccid)
  )`,
  // Earnings of a month from subscriptions that were deleted in it, without the subscription.
  `create table ended_earnings (
    month date not null,
    number text not null,
    chain_id bigint not null,
    asset text not null,
    value numeric(78) not null,
    primary key (month, number, chain_id, asset)
  )`,
  // Signal in dBm by slot.
  `create table node_samples (
    node_id text not null,
    at timestamptz not null,
    signals jsonb not null,
    primary key (node_id, at)
  )`,
  'create index node_samples_by_age on node_samples (at)',
];
