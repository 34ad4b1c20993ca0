#!/usr/bin/env -S node --max-old-space-size=512 --max-semi-space-size=4
// Starts the build of `node-daemon …`. This file is not a module: the thread pool loads modules, and its size is fixed at its first use.
// Ports that hang must leave threads for the journal. The program never needs this much heap, but without limits V8 collects garbage late:
// new objects alone would take 48 MB.
process.env.UV_THREADPOOL_SIZE ??= '64';
require('../shared/process/stack-traces.cjs');
import('../dist/node-daemon/main.js');
