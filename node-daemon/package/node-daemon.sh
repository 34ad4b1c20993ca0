#!/bin/sh
# The node daemon and its commands, with the threads and the memory that it needs: ports that hang must leave threads for
# the journal.
UV_THREADPOOL_SIZE="${UV_THREADPOOL_SIZE:-64}"
export UV_THREADPOOL_SIZE
exec /usr/bin/node --max-old-space-size=512 /usr/lib/simrack-node-daemon/main.mjs "$@"
