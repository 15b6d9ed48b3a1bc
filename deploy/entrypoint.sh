#!/bin/sh
# Starts Pharos in its container. Passwords come as files, which neither an inspected container nor a listed process shows;
# `pg` wants that of the database in a variable.
set -eu
if [ -n "${PGPASSWORD_FILE:-}" ]; then
  PGPASSWORD=$(cat "$PGPASSWORD_FILE")
  export PGPASSWORD
  unset PGPASSWORD_FILE
fi
exec node --max-semi-space-size=4 /app/dist/cli/main.js "$@"
