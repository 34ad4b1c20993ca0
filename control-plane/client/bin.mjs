#!/usr/bin/env node
// `simrack …`, as `npm run build` made it.
process.setSourceMapsEnabled(true);
await import('../../dist/simrack/main.js');
