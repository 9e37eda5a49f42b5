#!/bin/sh
# check-install.sh - make install installs every file in its place, uninstall removes all of them.
# usage: O=build tests/check-install.sh; one ok or not ok line per test
# shellcheck disable=SC2317 # functions are called by truth
cd "$(dirname "$0")/.." || exit 2
dest=$(mktemp -d) || exit 2
trap 'rm -rf "$dest"' EXIT
rc=0

truth() {	# truth NAME COMMAND...
	name=$1
	shift
	if "$@"
	then
		echo "ok $name"
	else
		echo "not ok $name"
		rc=1
	fi
}

# -o all keeps make from building, so the existing build is tested.
go() {
	make -s -o all O="${O:-build}" DESTDIR="$dest/a b" PREFIX=/opt/x "$1"
}

share="$dest/a b/opt/x/share"
all_pages() {
	for page in man/*.[1-9]
	do
		cmp "$page" "$share/man/man${page##*.}/${page#man/}" || return 1
	done
}
runs() {
	"$dest/a b/opt/x/bin/backstitch" --version | grep -q '^backstitch [0-9]'
}
completes() {
	bash -n "$share/bash-completion/completions/backstitch" &&
		grep -q '^#compdef backstitch' \
			"$share/zsh/site-functions/_backstitch" &&
		grep -q '^complete -c backstitch' \
			"$share/fish/vendor_completions.d/backstitch.fish"
}
nothing_left() {
	[ -z "$(find "$dest" ! -type d)" ] && [ ! -d "$share/doc/backstitch" ]
}

# Loads the extension in sqlite3, without backstitch.
extends() {
	lib="$dest/a b/opt/x/lib/backstitch/backstitch_sql"
	[ -f "$lib.so" ] || return 1
	command -v sqlite3 >/dev/null || return 0
	[ "$(sqlite3 -cmd ".load '$lib'" :memory: "SELECT hex(-1)" \
		2>&1)" = 0xffffffffffffffff ]
}

# babeltrace2 finds the plugin in the folder that the manual names.
plugs() {
	dir="$dest/a b/opt/x/lib/babeltrace2/plugins"
	[ -n "${BABELTRACE-x}" ] || return 0
	[ -f "$dir/babeltrace-plugin-backstitch.so" ] || return 1
	command -v babeltrace2 >/dev/null || return 0
	BABELTRACE_PLUGIN_PATH="$dir" babeltrace2 list-plugins |
		grep -q 'backstitch.*db'
}

truth installs go install
truth the_program_runs_from_there runs
truth every_manual_page_is_there all_pages
truth shells_can_complete completes
truth sqlite3_loads_the_extension extends
truth babeltrace2_finds_the_plugin plugs
truth uninstalls go uninstall
truth nothing_is_left nothing_left
exit $rc
