// Subscriptions, their tokens, and the ledger of payments.

export const MONEY = [
  `create table subscriptions (
    id text primary key,
    wallet text not null unique,
    number text not null unique references numbers (number),
    created_at timestamptz not null,
    expires_at timestamptz not null,
    lapsed_at timestamptz,
    -- The chain whose code speaks for the wallet; null where its key does, on every chain.
    account_chain_id bigint
  )`,
  'create index subscriptions_by_age on subscriptions (created_at desc, id desc)',
  // The card and the number that a subscriber had before an operator gave another one.
  `create table former_cards (
    iccid text primary key,
    subscription_id text not null references subscriptions (id) on delete cascade,
    number text not null,
    until timestamptz not null
  )`,
  'create index former_cards_of_subscription on former_cards (subscription_id)',
  `create table tokens (
    hash bytea primary key,
    subscription_id text not null references subscriptions (id) on delete cascade,
    created_at timestamptz not null
  )`,
  'create index tokens_by_subscription on tokens (subscription_id)',
  `create table nonces (
    nonce text primary key,
    expires_at timestamptz not null
  )`,
  'create index nonces_by_expiry on nonces (expires_at)',
  `create table payments (
    id text primary key,
    chain_id bigint not null,
    asset text not null,
    payer text not null,
    nonce text not null,
    pay_to text not null,
    value numeric(78) not null,
    valid_after numeric(78) not null,
    valid_before numeric(78) not null,
    signature text not null,
    state text not null
      check (state in ('claimed', 'in_flight', 'reverted', 'applied', 'taken_back', 'released', 'void', 'refunding', 'refunded', 'closed')),
    reserved_number text unique references numbers (number),
    raw_transaction text,
    transaction_hash text,
    transaction_nonce bigint,
    -- A relayer's account. A former one finishes what it has sent.
    transaction_sender text,
    -- It only uses its nonce: the payment can move no money any more.
    transaction_is_empty boolean not null default false,
    -- Not a reference: the ledger outlives its subscriptions.
    subscription_id text,
    failure text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    transfer_hash text,
    -- Signed by the key of the address, or accepted by the code of the account there.
    signed_by text not null default 'key' check (signed_by in ('key', 'account')),
    runs_code boolean not null default false,
    -- SHA-256 of the payer's secret name for the payment.
    identifier_hash bytea,
    checks integer not null default 0,
    next_check_at timestamptz,
    final_at timestamptz,
    -- The year that it bought; shortened when an operator ends the subscription.
    paid_from timestamptz,
    paid_until timestamptz,
    -- Smallest units that go back, from the decision on.
    refund_value numeric(78) check (refund_value > 0 and refund_value <= value),
    -- The end of its subscription that is refunded; null for money that bought nothing.
    refund_of_end timestamptz,
    unique (chain_id, asset, payer, nonce)
  )`,
  `create index payments_unfinished on payments (updated_at)
    where state in ('claimed', 'in_flight', 'reverted')`,
  'create index payments_by_state on payments (state, created_at desc, id desc)',
  'create index payments_of_subscription on payments (subscription_id) where subscription_id is not null',
  'create index payments_by_age on payments (created_at desc, id desc)',
  `create index payments_not_final on payments (chain_id, updated_at)
    where state = 'applied' and final_at is null`,
  'create index payments_by_payer on payments (payer, created_at)',
  `create index payments_by_nonce on payments (chain_id, transaction_sender, transaction_nonce)
    where transaction_nonce is not null`,
  `create table payment_events (
    id bigint generated always as identity primary key,
    payment_id text not null references payments (id) on delete cascade,
    state text not null,
    transaction_hash text,
    why text,
    at timestamptz not null
  )`,
  'create index payment_events_by_payment on payment_events (payment_id, id)',
  "create index payment_refusals on payment_events (at) where state = 'reverted'",
  // One transaction refunds a payment, and each nonce of an account serves one refund.
  `create table refunds (
    payment_id text primary key references payments (id),
    chain_id bigint not null,
    sender text not null,
    nonce bigint not null,
    raw_transaction text not null,
    transaction_hash text not null unique,
    created_at timestamptz not null,
    unique (chain_id, sender, nonce)
  )`,
  // The last nonce of a relayer's wallet that an RPC has accepted.
  `create table relayer_nonces (
    chain_id bigint not null,
    address text not null,
    nonce bigint not null,
    taken_at timestamptz,
    primary key (chain_id, address)
  )`,
];
