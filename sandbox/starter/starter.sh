#!/bin/sh
# Starts a package inside its sandbox. Runs as `/bin/sh /run/pkgd/starter <command> [argument...]`, as the package's own user.
# Its directory holds `env` (shell assignments) and, where stdio goes through named pipes, the pipes `in` and `out`. Both are opened
# read-write: the package itself keeps them alive, so that a daemon's death is neither EOF nor EPIPE to it. It sets no variable of its
# own and ends by exec: nothing of it stays, and the package has stdin, stdout and stderr alone. (A POSIX shell names no descriptor above 9;
# those are closed by whoever starts the sandbox.)
exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-
if [ -p "${0%/*}/in" ] && [ -p "${0%/*}/out" ]; then
  exec 0<>"${0%/*}/in" 1<>"${0%/*}/out"
fi
. "${0%/*}/env"
case $1 in
  */*) [ -e "$1" ] ;;
  *) command -v -- "$1" >/dev/null 2>&1 ;;
esac || {
  printf 'pkgd-starter: %s: not found\n' "$1" >&2
  exit 127
}
exec "$@"
