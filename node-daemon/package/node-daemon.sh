#!/bin/sh
# Starts the node daemon and its commands with enough threads and memory: ports that hang must leave threads for the
# journal. The service and the tools use this data folder, unless the configuration names another.
UV_THREADPOOL_SIZE="${UV_THREADPOOL_SIZE:-64}"
DEFAULT_DATA_DIR="${DEFAULT_DATA_DIR:-/var/lib/simrack-node}"
export UV_THREADPOOL_SIZE DEFAULT_DATA_DIR
exec /usr/bin/node --max-old-space-size=512 --max-semi-space-size=4 --require /usr/lib/simrack-node-daemon/stack-traces.cjs \
  /usr/lib/simrack-node-daemon/main.mjs "$@"
