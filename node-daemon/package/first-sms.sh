#!/bin/sh
# Runs the steps of docs/operators/first-text.md, from a Debian without the daemon to an enrolled node and its first SMS. Run it as root.
# The modems are simulated. A drop-in of the unit sets their location (docs/operators/permissions.md).
set -eu

if [ $# -ne 5 ]; then
  echo "usage: first-sms.sh <package.deb> <control plane's URL> <code> <simulator's URL> <a number of the rack>" >&2
  exit 2
fi
package=$1 control_plane=$2 code=$3 simulator=$4 number=$5
unit=simrack-node-daemon
metrics_port=${METRICS_PORT:-9464}
started=$(date +%s)

# Prints a command, then runs it.
step() {
  echo
  echo "[$(($(date +%s) - started)) s] $1"
  shift
  echo "  # $*"
  "$@"
}

# Repeats a command until it succeeds, for one minute at most.
wait_for() {
  tries=0
  until "$@"; do
    tries=$((tries + 1))
    if [ "$tries" -ge 240 ]; then
      echo "gave up after a minute: $*; see journalctl -u $unit" >&2
      exit 1
    fi
    sleep 0.25
  done
}

is_linked() { systemctl show -P StatusText "$unit" | grep -q '^[1-9][0-9]* of .* registered, linked'; }
has_received() { curl -fsS "http://127.0.0.1:$metrics_port/metrics" | grep -q '^simrack_node_sms_received_total{.*} [1-9]'; }

step 'Install the package' apt-get install -y -qq --no-install-recommends "$package"
if [ "$metrics_port" != 9464 ]; then
  step 'Set another port for the status page and the metrics' sed -i "s/port: 9464/port: $metrics_port/" /etc/simrack/node-daemon.yaml
  step 'Apply the configuration' systemctl restart "$unit"
fi
step 'Enroll the node' node-daemon enroll "$control_plane" "$code"
step 'Wait for a registered modem and the link' wait_for is_linked
step 'Show the status' systemctl show -P StatusText "$unit"
step 'Send a text to the rack' curl -fsS "$simulator/sms" -d "{\"from\":\"+13105550188\",\"to\":\"$number\",\"body\":\"Your code is 123456\"}"
step 'Wait until the node receives it' wait_for has_received
step 'List the slots' node-daemon list

echo
echo "[$(($(date +%s) - started)) s] The node is enrolled and has received its first SMS."
