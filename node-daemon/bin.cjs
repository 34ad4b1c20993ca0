#!/usr/bin/env -S node --max-old-space-size=512
// `node-daemon …`, as `npm run build` made it. No module itself: modules are read by the thread pool, whose size is fixed by its first
// use, and ports that hang must leave threads for the journal. The limit of the heap is one that the program never needs; without it
// V8 lets garbage lie around for long.
process.env.UV_THREADPOOL_SIZE ??= '64';
process.setSourceMapsEnabled(true);
import('../dist/node-daemon/main.js');
