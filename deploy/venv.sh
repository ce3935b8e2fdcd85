# shellcheck shell=bash
# Makes and fills .venv; sourced by tests/run and deploy/demo, which set `root`, the checkout, and `me`, their own name.
#
# .venv/.installed names what was last installed, and out of which pyproject.toml and constraints, so that a second
# run starts at once. `dev` holds all of `demo`. .venv/.installing stands there while something is being installed: a
# run that finds it knows that the one before was ended in the midst of it, and makes .venv anew.

: "${root:?}" "${me:?}"

say() { printf '%s: %s\n' "$me" "$*"; }

give_up() {
  printf '%s: %s\n' "$me" "$*" >&2
  exit 1
}

# Print the first Python that is new enough and can make a venv; say on stderr why the others can't.
find_python() {
  local name found="" why=""
  for name in python3.11 python3.12 python3.13 python3; do
    command -v "$name" > /dev/null || continue
    if ! "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
      found=$("$name" -c 'import platform; print(platform.python_version())' 2> /dev/null)
      why="$name is ${found:-broken}"
    elif ! "$name" -c 'import venv, ensurepip' 2> /dev/null; then
      why="$name can't make a venv (on Debian: apt-get install $("$name" -c 'import sys
print("python%d.%d-venv" % sys.version_info[:2])'))"
    else
      printf '%s\n' "$name"
      return
    fi
  done
  give_up "Python 3.11 or newer with its venv module is missing: ${why:-there is no python3}"
}

# run_group COMMAND: run it in a process group of its own, with all that it starts; return its status. Whoever is told
# to end meanwhile ends all of that first.
run_group() {
  local status=0
  set -m # a background job is a group of its own
  "$@" < /dev/null &
  group=$!
  set +m
  trap 'end_group 130' INT
  trap 'end_group 143' TERM
  trap 'end_group 129' HUP
  wait "$group" || status=$?
  trap - INT TERM HUP
  return "$status"
}

end_group() {
  local left=50
  trap '' INT TERM HUP
  kill -INT -- "-$group" 2> /dev/null # pip removes what it unpacked
  while ((left-- > 0)) && kill -0 -- "-$group" 2> /dev/null; do sleep 0.1; done
  kill -KILL -- "-$group" 2> /dev/null
  say "ended while it was installing; the next run makes .venv anew" >&2
  exit "$1"
}

# Pass on one line of pip's output every ten seconds, as a sign of life; keep the whole in a file.
show_progress() {
  trap '' INT # it ends with what it reads
  local line shown=$SECONDS begun=$SECONDS
  while IFS= read -r line; do
    printf '%s\n' "$line" >> "$1"
    if ((SECONDS - shown >= 10)) && [[ $line == Collecting* || $line == Installing* ]]; then
      say "  … $((SECONDS - begun)) s: ${line:0:80}"
      shown=$SECONDS
    fi
  done
}

run_pip() {
  "$root/.venv/bin/python" -m pip install --no-input --disable-pip-version-check --progress-bar off "$@" 2>&1 |
    show_progress "$root/.venv/install.log"
  return "${PIPESTATUS[0]}"
}

install() {
  local log=$root/.venv/install.log
  : > "$log"
  if ! run_group run_pip "$@"; then
    rm -f "$root/.venv/.installing" # pip has put back what was there
    tail -n 15 "$log" >&2
    give_up "pip could not install (the whole output: .venv/install.log). Is a package index within reach?"
  fi
}

# ensure_venv EXTRA: after it, .venv/bin holds the product with that extra, at the pinned versions.
ensure_venv() {
  local extra=$1 pinned=$root/deploy/constraints.txt stamp=$root/.venv/.installed half=$root/.venv/.installing
  local sources python begun=$SECONDS
  # The path is part of it: a checkout that was copied or moved has a .venv that points to the old one.
  sources=$({ cat "$root/pyproject.toml" "$pinned" && printf '%s' "$root"; } | cksum)
  if [[ -x $root/.venv/bin/python && -f $stamp && ! -e $half ]]; then
    case $(< "$stamp") in "dev $sources" | "$extra $sources") return ;; esac
  fi
  if [[ -e $half ]] || ! "$root/.venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
    python=$(find_python) || exit 1
    say "making .venv with $python ($("$python" -c 'import platform; print(platform.python_version())'))"
    run_group "$python" -m venv --clear --without-pip "$root/.venv" || give_up "$python could not make .venv"
  fi
  : > "$half"
  rm -f "$stamp"
  if ! "$root/.venv/bin/python" -c 'import pip' 2> /dev/null; then
    run_group "$root/.venv/bin/python" -m ensurepip --upgrade --default-pip > /dev/null ||
      give_up "pip could not be put into .venv"
  fi
  say "installing recallwatch[$extra] and what it needs into .venv: a minute or three, the first time"
  install --upgrade pip --constraint "$pinned"
  install --editable "${root}[$extra]" --constraint "$pinned" --build-constraint "$pinned"
  printf '%s' "$extra $sources" > "$stamp"
  rm -f "$half"
  say "installed in $((SECONDS - begun)) s"
}
