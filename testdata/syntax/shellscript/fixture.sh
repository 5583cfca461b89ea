#!/usr/bin/env bash
# Deploys the bank.
set -euo pipefail

source ./lib/common.sh
. "$HOME/.bankrc"

readonly MAX_ACCOUNTS=100
export LEDGER_DIR=/var/lib/bank
declare -a names=(a b)
timeout=3

# Prints a message.
# It goes to stderr.
log() {
  local level="$1"
  printf '%s\n' "$level" >&2
}

function deploy_account {
  local owner=$1
  log "deploying $owner"
  if check_balance "$owner"; then
    result=$(fetch_ledger | grep -v "$owner")
  fi
}

main() {
  deploy_account "a" && log done
}

main "$@"
