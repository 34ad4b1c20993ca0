#!/bin/sh
# /usr/local/bin/control-plane: the commands of an operator, with the options of the service.
# Run it as root, or as a user who may become simrack.
if [ "$(id -un)" != simrack ]; then exec sudo -u simrack -- "$0" "$@"; fi
set -a
. /etc/simrack/control-plane.env
exec /usr/bin/node /opt/simrack/control-plane/bin.mjs "$@"
