# shellcheck shell=bash
# Makes and fills .venv; sourced by tests/run and deploy/demo, which set `root`, the checkout, and `me`, their own name.
#
# .venv/.installed names what was last installed, and out of which pyproject.toml and constraints, so that a second
# run starts at once. `dev` holds all of `demo`.

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

# Pass on one line of pip's output every ten seconds, as a sign of life; keep the whole in a file.
show_progress() {
  local line shown=$SECONDS begun=$SECONDS
  while IFS= read -r line; do
    printf '%s\n' "$line" >> "$1"
    if ((SECONDS - shown >= 10)) && [[ $line == Collecting* || $line == Installing* ]]; then
      say "  … $((SECONDS - begun)) s: ${line:0:80}"
      shown=$SECONDS
    fi
  done
}

install() {
  local log=$root/.venv/install.log
  : > "$log"
  "$root/.venv/bin/python" -m pip install --no-input --disable-pip-version-check --progress-bar off "$@" 2>&1 |
    show_progress "$log"
  if ((PIPESTATUS[0] != 0)); then
    tail -n 15 "$log" >&2
    give_up "pip could not install (the whole output: .venv/install.log). Is a package index within reach?"
  fi
}

# ensure_venv EXTRA: after it, .venv/bin holds the product with that extra, at the pinned versions.
ensure_venv() {
  local extra=$1 pinned=$root/deploy/constraints.txt stamp=$root/.venv/.installed sources python begun=$SECONDS
  # The path is part of it: a checkout that was copied or moved has a .venv that points to the old one.
  sources=$({ cat "$root/pyproject.toml" "$pinned" && printf '%s' "$root"; } | cksum)
  if [[ -x $root/.venv/bin/python && -f $stamp ]]; then
    case $(< "$stamp") in "dev $sources" | "$extra $sources") return ;; esac
  fi
  if ! "$root/.venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
    python=$(find_python) || exit 1
    say "making .venv with $python ($("$python" -c 'import platform; print(platform.python_version())'))"
    "$python" -m venv --clear "$root/.venv" || give_up "$python could not make .venv"
  fi
  rm -f "$stamp"
  say "installing recallwatch[$extra] and what it needs into .venv: a minute or three, the first time"
  install --upgrade pip --constraint "$pinned"
  install --editable "${root}[$extra]" --constraint "$pinned" --build-constraint "$pinned"
  printf '%s' "$extra $sources" > "$stamp"
  say "installed in $((SECONDS - begun)) s"
}
