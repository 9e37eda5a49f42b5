#!/bin/sh
# check-version.sh - one version everywhere, and a tarball that is the same each time.
# usage: tests/check-version.sh; one ok or not ok line per test
cd "$(dirname "$0")/.." || exit 2
# shellcheck source=/dev/null
. tests/ok.sh
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
v=$(sed -n 's/^#define VERSION "\(.*\)"/\1/p' cli/version.h)

[ "$(sed -n 's/^## \[\([0-9.]*\)\].*/\1/p' NEWS.md | head -n 1)" = "$v" ]
ok news_has_this_version $?
[ "$(sed -n '1s/^backstitch (\(.*\)-.*/\1/p' debian/changelog)" = "$v" ]
ok so_has_the_package_of_debian $?
[ "$(sed -n 's/^Version: *//p' packaging/backstitch.spec)" = "$v" ]
ok and_the_spec $?

if ! git rev-parse -q --verify HEAD >/dev/null 2>&1
then
	echo "skip tarball: no git here"
	exit 0
fi
# Somebody else's clone: in another folder, checked out later, with settings of
# git of their own, which archive would take into account.
mkdir "$dir/a" "$dir/b" "$dir/home"
printf '[core]\n\tautocrlf = true\n[tar]\n\tumask = 0007\n[commit]\n\tgpgsign = true\n' >"$dir/home/.gitconfig"
make -s dist DIST="$dir/a" >/dev/null
(
	umask 077
	export TZ=Asia/Tokyo LC_ALL=tr_TR.UTF-8 HOME="$dir/home" GZIP=-1
	git clone -q . "$dir/a clone" && make -s -C "$dir/a clone" dist DIST="$dir/b"
) >/dev/null 2>&1
cmp "$dir"/*/"backstitch-$v.tar.gz"
ok another_clone_makes_a_tarball_of_the_same_bytes $?
tar -tzf "$dir/a/backstitch-$v.tar.gz" | sed -n "s|^backstitch-$v/||p" |
	grep -v '/$' | grep . | sort >"$dir/packed"
git ls-files | sort | cmp - "$dir/packed"
ok and_all_that_is_committed $?
