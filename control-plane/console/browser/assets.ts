// Style and scripts of the console, and the library of its plots: by a path that changes with them, so that browsers may keep them.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Middleware } from 'koa';

const FOREVER = 'public, max-age=31536000, immutable';

const TYPES = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' } as const;

const own = (name: string): URL => new URL(name, import.meta.url);
const uplot = (name: string): string => createRequire(import.meta.url).resolve(`uplot/dist/${name}`);

const FILES = {
  'console.css': own('console.css'),
  'console.js': own('console.js'),
  'plots.js': own('plots.js'),
  'uplot.css': uplot('uPlot.min.css'),
  'uplot.js': uplot('uPlot.iife.min.js'),
} as const;

type AssetName = keyof typeof FILES;

interface Asset {
  path: string;
  type: string;
  bytes: Buffer;
}

const ASSETS = Object.fromEntries(
  Object.entries(FILES).map(([name, file]): [string, Asset] => {
    const bytes = readFileSync(file);
    const mark = createHash('sha256').update(bytes).digest('base64url').slice(0, 12);
    const type = TYPES[name.endsWith('.css') ? 'css' : 'js'];
    return [name, { path: `/assets/${mark}/${name}`, type, bytes }];
  }),
) as Record<AssetName, Asset>;

const BY_PATH = new Map(Object.values(ASSETS).map((asset) => [asset.path, asset]));

export const pathOfAsset = (name: AssetName): string => ASSETS[name].path;

/** Serves the assets without a sign-in: they contain no data of the service. */
export const serveAssets: Middleware = async (ctx, next) => {
  const asset = BY_PATH.get(ctx.path);
  if (asset === undefined || ctx.method !== 'GET') return next();
  ctx.set({ 'Content-Type': asset.type, 'Cache-Control': FOREVER });
  ctx.body = asset.bytes;
};
