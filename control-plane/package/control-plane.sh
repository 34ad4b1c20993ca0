#!/bin/sh
# Runs a command of an operator as the user of the service and with its options. The service itself is a systemd unit.
set -eu
CONFIG=/etc/simrack/control-plane.env

[ $# -gt 0 ] || set -- --help
case "$1" in -h | --help | -V | --version) ;; *)
  if [ "$(id -un)" != simrack-service ]; then
    if [ "$(id -u)" -eq 0 ]; then exec runuser -u simrack-service -- "$0" "$@"; fi
    exec sudo -u simrack-service -- "$0" "$@"
  fi
  # As systemd reads the file: a value may contain characters that mean something to a shell.
  while IFS= read -r line || [ -n "$line" ]; do
    case "$line" in [A-Z]*=*) export "$line" ;; esac
  done <"$CONFIG"
  ;;
esac
exec /usr/bin/node --require /usr/lib/simrack-control-plane/stack-traces.cjs /usr/lib/simrack-control-plane/main.mjs "$@"
