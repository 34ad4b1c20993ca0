// Panels of the dashboards, made with Grafana's own builders: a number, a plot, a row, and the variables that all share.
import type * as cog from '@grafana/grafana-foundation-sdk/cog';
import * as common from '@grafana/grafana-foundation-sdk/common';
import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import * as stat from '@grafana/grafana-foundation-sdk/stat';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';

// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana replaces it.
const SOURCE: common.DataSourceRef = { type: 'prometheus', uid: '${datasource}' };
const STAT = { height: 4, span: 6 };
/** A plot without one does not say which line is which. */
const LEGEND = new common.VizLegendOptionsBuilder()
  .showLegend(true)
  .displayMode(common.LegendDisplayMode.List)
  .placement(common.LegendPlacement.Bottom);
const PLOT = { height: 8, span: 12 };

/** A query, and the legend of its series: "{{node}}". */
type Query = readonly [expr: string, legend?: string];

const target = ([expr, legend = '']: Query, index: number): cog.Builder<prometheus.Dataquery> =>
  new prometheus.DataqueryBuilder()
    .datasource(SOURCE)
    .refId(String.fromCharCode('A'.charCodeAt(0) + index))
    .expr(expr)
    .legendFormat(legend);

/** Green below `bad`, red from there on; `isLowBad`: the reverse. */
const colors = (bad: number, isLowBad: boolean): dashboard.ThresholdsConfigBuilder =>
  new dashboard.ThresholdsConfigBuilder().mode(dashboard.ThresholdsMode.Absolute).steps([
    { value: null, color: isLowBad ? 'red' : 'green' },
    { value: bad, color: isLowBad ? 'green' : 'red' },
  ]);

/** One number. `badFrom`: it is red from there on. `badBelow`: it is red below. */
export function number(
  title: string,
  expr: string,
  { about, badFrom, badBelow, unit }: { about: string; badFrom?: number; badBelow?: number; unit?: string },
): cog.Builder<dashboard.Panel> {
  const panel = new stat.PanelBuilder()
    .title(title)
    .description(about)
    .datasource(SOURCE)
    .height(STAT.height)
    .span(STAT.span)
    .reduceOptions(new common.ReduceDataOptionsBuilder().calcs(['lastNotNull']))
    .withTarget(target([expr], 0));
  if (unit !== undefined) panel.unit(unit);
  const bound = badFrom ?? badBelow;
  return bound === undefined ? panel : panel.thresholds(colors(bound, badFrom === undefined));
}

/** Lines over time. `unit`: one of Grafana's, such as `s`. */
export function plot(
  title: string,
  queries: readonly Query[],
  { about, unit = 'short', isStacked = false }: { about: string; unit?: string; isStacked?: boolean },
): cog.Builder<dashboard.Panel> {
  const panel = new timeseries.PanelBuilder()
    .title(title)
    .description(about)
    .datasource(SOURCE)
    .height(PLOT.height)
    .span(PLOT.span)
    .legend(LEGEND)
    .unit(unit)
    .min(unit === 'dBm' ? -120 : 0);
  if (isStacked)
    panel.fillOpacity(20).stacking(new common.StackingConfigBuilder().mode(common.StackingMode.Normal));
  for (const [index, query] of queries.entries()) panel.withTarget(target(query, index));
  return panel;
}

type Panel = cog.Builder<dashboard.Panel>;

/** A choice for the whole dashboard: the reader picks one of the values of a label of a metric. */
interface Choice {
  label: string;
  metric: string;
}

/**
 * A dashboard of one subject. `uid` stays the same, so that an import replaces it. `parts`: panels, choices, and titles of rows of the panels
 * behind them.
 */
export function board(
  uid: string,
  title: string,
  about: string,
  parts: ReadonlyArray<string | Panel | Choice>,
): dashboard.Dashboard {
  const made = new dashboard.DashboardBuilder(title)
    .uid(uid)
    .description(about)
    .tags(['simrack'])
    .readonly()
    .tooltip(dashboard.DashboardCursorSync.Crosshair)
    .time({ from: 'now-6h', to: 'now' })
    .refresh('1m')
    .withVariable(
      new dashboard.DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'),
    );
  for (const part of parts) {
    if (typeof part === 'string') made.withRow(new dashboard.RowBuilder(part));
    else if ('metric' in part) made.withVariable(listOf(part));
    else made.withPanel(part);
  }
  return withoutIntervals(made.build());
}

/** The builders give each variable the fields of intervals, which Grafana does not know elsewhere. */
function withoutIntervals({ templating, ...rest }: dashboard.Dashboard): dashboard.Dashboard {
  const list = (templating.list ?? []).map(
    ({ auto: _, auto_count: _count, auto_min: _min, ...variable }) => variable,
  );
  return { ...rest, templating: { ...templating, list } };
}

const listOf = ({ label, metric }: Choice): cog.Builder<dashboard.VariableModel> =>
  new dashboard.QueryVariableBuilder(label)
    .datasource(SOURCE)
    .query(`label_values(${metric}, ${label})`)
    .refresh(dashboard.VariableRefresh.OnTimeRangeChanged);
