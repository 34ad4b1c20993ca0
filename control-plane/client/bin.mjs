#!/usr/bin/env node
// `simrack …`, as `npm run build` made it.
import '../../shared/process/stack-traces.cjs';

await import('../../dist/simrack/main.js');
