// Alerts that become critical, and what each message told: alerts change while it waits. Frozen: a change is a new migration.
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  'alter table alerts add column worse_since timestamptz',
  'alter table alert_tidings drop constraint alert_tidings_change_check',
  `alter table alert_tidings add constraint alert_tidings_change_check
    check (change in ('raised', 'escalated', 'recovered'))`,
  `alter table alert_tidings
    add column severity text check (severity in ('warning', 'critical')),
    add column summary text,
    add column advice text`,
  `update alert_tidings set severity = alerts.severity, summary = alerts.summary, advice = alerts.advice
    from alerts where alerts.id = alert_id`,
  `alter table alert_tidings
    alter column severity set not null,
    alter column summary set not null,
    alter column advice set not null`,
];
