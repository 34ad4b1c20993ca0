// The pages of the reference, in the order of the sidebar.
import type { Page } from '../page.ts';
import { ALERTS_PAGE } from './alerts.ts';
import { AT_PAGE } from './at.ts';
import { CLOSE_CODES_PAGE } from './close-codes.ts';
import { ERRORS_PAGE } from './errors.ts';
import { FAULTS_PAGE } from './faults.ts';
import { JOURNAL_PAGE } from './journal.ts';
import { LINK_PAGE } from './link.ts';
import { MCP_TOOLS_PAGE } from './mcp-tools.ts';
import { METRICS_PAGE } from './metrics.ts';
import { OPTIONS_PAGE } from './options.ts';

export const PAGES: readonly Page[] = [
  OPTIONS_PAGE,
  ERRORS_PAGE,
  CLOSE_CODES_PAGE,
  METRICS_PAGE,
  ALERTS_PAGE,
  MCP_TOOLS_PAGE,
  LINK_PAGE,
  JOURNAL_PAGE,
  AT_PAGE,
  FAULTS_PAGE,
];
