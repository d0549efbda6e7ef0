// SPDX-License-Identifier: Apache-2.0
// What Grafana's schema says of the panels that the dashboards use, for JSON: an enumeration is one of its values there.
import type { Dashboard, Panel, RowPanel } from '@grafana/schema';
import type * as barchart from '@grafana/schema/dist/esm/raw/composable/barchart/panelcfg/x/BarChartPanelCfg_types.gen';
import type * as bargauge from '@grafana/schema/dist/esm/raw/composable/bargauge/panelcfg/x/BarGaugePanelCfg_types.gen';
import type * as heatmap from '@grafana/schema/dist/esm/raw/composable/heatmap/panelcfg/x/HeatmapPanelCfg_types.gen';
import type * as stat from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type * as stateTimeline from '@grafana/schema/dist/esm/raw/composable/statetimeline/panelcfg/x/StateTimelinePanelCfg_types.gen';
import type * as table from '@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen';
import type * as timeseries from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';

type Json<T> = T extends string
  ? `${T}`
  : T extends number
    ? number
    : T extends boolean | null | undefined
      ? T
      : T extends Array<infer Element>
        ? Array<Json<Element>>
        : T extends object
          ? { [Key in keyof T]: Json<T[Key]> }
          : T;

type Defaults = NonNullable<NonNullable<Panel['fieldConfig']>['defaults']>;

type Typed<Kind extends string, Options, Custom> = Json<Omit<Panel, 'type' | 'options' | 'fieldConfig' | 'targets'>> & {
  type: Kind;
  options: Partial<Json<Options>>;
  targets: Query[];
  fieldConfig: {
    defaults: Json<Omit<Defaults, 'custom' | 'thresholds'>> & {
      custom: Partial<Json<Custom>>;
      thresholds?: { mode: 'absolute'; steps: Array<{ color: string; value: number | null }> };
    };
    overrides: Array<{ matcher: { id: string; options: string }; properties: Array<{ id: string; value: unknown }> }>;
  };
};

// Of the data source Prometheus, which the schema leaves open.
type Query = {
  datasource: { type: 'prometheus'; uid: string };
  editorMode: 'code' | 'builder';
  exemplar?: boolean;
  expr: string;
  format?: 'time_series' | 'table' | 'heatmap';
  instant?: boolean;
  legendFormat?: string;
  range?: boolean;
  refId: string;
};

type AnyPanel =
  | Typed<'barchart', barchart.Options, barchart.FieldConfig>
  | Typed<'bargauge', bargauge.Options, {}>
  | Typed<'heatmap', heatmap.Options, heatmap.FieldConfig>
  | Typed<'stat', stat.Options, {}>
  | Typed<'state-timeline', stateTimeline.Options, stateTimeline.FieldConfig>
  | Typed<'table', table.Options, table.FieldConfig>
  | Typed<'timeseries', timeseries.Options, timeseries.FieldConfig>
  | Json<RowPanel>;

type Annotation = {
  datasource: { type: 'prometheus'; uid: string };
  enable: boolean;
  expr: string;
  hide: boolean;
  iconColor: string;
  name: string;
  tagKeys: string;
  textFormat: string;
  titleFormat: string;
  useValueForTime: boolean;
};

export type DashboardJson = Json<Omit<Dashboard, 'panels' | 'annotations'>> & {
  panels: AnyPanel[];
  annotations: { list: Annotation[] };
};
