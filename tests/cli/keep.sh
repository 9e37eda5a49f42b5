#!/bin/sh
# keep.sh - what an output must not destroy, and what of it a crash of the machine leaves.
# usage: BACKSTITCH=PROGRAM tests/cli/keep.sh; prints "ok NAME", "not ok NAME" or "skip NAME" lines.
# Needs: libcurl
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cap=$root/tests/captures
unset BACKSTITCH_NO_SYNC
cd "$dir" || exit 2
XDG_CACHE_HOME=$dir/cache
export XDG_CACHE_HOME

refused() {	# refused KIND FILE COMMAND...: and FILE is as before
	kind=$1 file=$2
	shift 2
	cp "$file" before
	"$B" "$@" >out 2>err
	[ $? = 1 ] && grep -q "$file: exists and is a $kind; remove it first" err && cmp -s before "$file" && return
	echo "# backstitch $*"
	bad=1
}
cp "$cap/fp-1.data" perf.data
gzip -c perf.data >perf.data.gz
"$B" ingest -q --no-symbols -o a.db perf.data && cp a.db b.db

# ---- captures

bad=0
for to in perf.data perf.data.gz
do
	refused capture $to flame -o $to a.db
	refused capture $to page -o $to a.db
	refused capture $to export --format folded -o $to a.db
	refused capture $to export --format perf.data -o $to a.db
done
cp perf.data c.tar.gz
refused capture c.tar.gz bundle -f -o c.tar.gz a.db
say no_output_replaces_a_capture
bad=0
refused database b.db flame -o b.db a.db
refused database b.db export --format json -o b.db a.db
cp b.db d.tar.gz
refused database d.tar.gz bundle -f -o d.tar.gz a.db
say no_other_output_replaces_a_database
bad=0
for form in folded json pprof chrome
do
	"$B" export --format $form -o again a.db >out 2>err && "$B" export --format $form -o again a.db >out 2>err || bad=1
done
"$B" flame -o x.svg a.db >out 2>err && "$B" flame -o x.svg a.db >out 2>err || bad=1
say what_can_be_made_again_is_replaced

# ---- links

ln -s b.db link.db
"$B" ingest -q -f --no-symbols -o link.db "$cap/m32.data" >out 2>err && [ -L link.db ] && [ ! -L b.db ] && ! cmp -s a.db b.db &&
	"$B" query b.db 'SELECT path FROM capture' >out 2>err && grep -q m32 out
bad=$?
say ingest_f_writes_where_a_link_leads

# ---- words

"$B" query a.db "VACUUM INTO '$dir/v.db'" >out 2>err
[ $? = 1 ] && grep -q 'a.db: only reading is allowed here' err && [ ! -e v.db ]
bad=$?
"$B" query a.db VACUUM >out 2>err
[ $? = 1 ] || bad=1
say vacuum_is_refused

# the message of one of several databases says which
cp b.db damaged.db
python3 -c 'import sqlite3
db = sqlite3.connect("damaged.db")
db.execute("UPDATE frame SET image = 9999 WHERE id = 1")
db.commit()'
bad=0
for command in report 'flame -o -' script annotate 'diff a.db'
do
	# shellcheck disable=SC2086 # words
	"$B" $command damaged.db >out 2>err
	[ $? = 1 ] && grep -q '^backstitch: damaged.db: the database is damaged: frame, row 1$' err || bad=1
done
say damage_is_told_with_the_name_of_its_file

# ---- a crash of the machine: what was not flushed when a file got its name is gone

cat >crash.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
static struct stat flushed[64];
static unsigned int n;
static void note(int fd)
{
	if (!fstat(fd, &flushed[n % 64]))
		n++;
}
static int lose(const char *path, const struct stat *st, int kind, struct FTW *f)
{
	off_t kept = 0;

	(void)f;
	for (unsigned int i = 0; i < 64; i++)
		if (flushed[i].st_ino == st->st_ino && flushed[i].st_dev == st->st_dev)
			kept = flushed[i].st_size;
	if (kind == FTW_F && kept < st->st_size && truncate(path, kept))
		fprintf(stderr, "%s: not lost\n", path);
	return 0;
}
static void lose_all(const char *path)
{
	char to[4096];
	ssize_t len = readlink(path, to, sizeof(to) - 1);
	struct stat st;

	/* a file without a name is one that a descriptor leads to */
	if (len > 0 && !stat(path, &st))
		lose(path, &st, FTW_F, NULL);
	else
		nftw(path, lose, 16, FTW_PHYS);
}
#define REAL(ret, name, args) ((ret(*) args)dlsym(RTLD_NEXT, #name))
int fsync(int fd) { note(fd); return 0; }
int fdatasync(int fd) { note(fd); return 0; }
int rename(const char *a, const char *b)
{
	lose_all(a);
	return REAL(int, rename, (const char *, const char *))(a, b);
}
int renameat2(int d, const char *a, int e, const char *b, unsigned int how)
{
	lose_all(a);
	return REAL(int, renameat2, (int, const char *, int, const char *, unsigned int))(d, a, e, b, how);
}
int linkat(int d, const char *a, int e, const char *b, int how)
{
	lose_all(a);
	return REAL(int, linkat, (int, const char *, int, const char *, int))(d, a, e, b, how);
}
END
case ${SAN:-}$B in
*build-san* | *build-fuzz* | *address*)
	echo "skip what_has_its_name_is_on_the_disk: under sanitizers nothing is loaded before them"
	exit 0
	;;
esac
gcc -shared -fPIC -o crash.so crash.c -ldl || exit 1
crash() {
	env LD_PRELOAD="$dir/crash.so" "$@"
}
bad=0
crash "$B" ingest -q --no-symbols -o crash.db perf.data >out 2>err && cmp -s crash.db a.db || bad=1
crash "$B" merge -q -o merged.db a.db b.db >out 2>err && "$B" check merged.db >out 2>err
[ $? != 1 ] || bad=1
for form in folded json parquet ctf perf.data
do
	"$B" export --format $form -o whole.$form a.db >out 2>err
	crash "$B" export --format $form -o crash.$form a.db >out 2>err
	diff -r whole.$form crash.$form >out 2>err || bad=1
done
crash "$B" bundle -o crash.tar.gz a.db >out 2>err && gzip -t crash.tar.gz || bad=1
crash "$B" bundle --redact -o crash.redacted.db a.db >out 2>err && "$B" info crash.redacted.db >out 2>err || bad=1
gzip -dc "$cap/pipe-defer.data.gz" >stream
"$B" follow -q --no-symbols -o whole.seg stream >out 2>err || bad=1
crash "$B" follow -q --no-symbols -o crash.seg stream >out 2>err || bad=1
# a segment tells of its own folder
for of in whole crash
do
	"$B" export --format folded -o $of.stacks $of.seg/segment-000001.db >out 2>err || bad=1
done
cmp -s whole.stacks crash.stacks || bad=1
crash env BACKSTITCH_NO_SYNC=1 "$B" ingest -q --no-symbols -o lost.db perf.data >out 2>err
# the test can fail
[ -e lost.db ] && [ ! -s lost.db ] || bad=1
say what_has_its_name_is_on_the_disk

# ---- a filesystem with none of this: no flags of renameat2(), no files without
# a name, no links

cat >plain.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#define REAL(ret, name, args) ((ret(*) args)dlsym(RTLD_NEXT, #name))
int renameat2(int d, const char *a, int e, const char *b, unsigned int how)
{
	errno = EINVAL;
	return how ? -1 : REAL(int, renameat2, (int, const char *, int, const char *, unsigned int))(d, a, e, b, how);
}
int linkat(int d, const char *a, int e, const char *b, int how)
{
	(void)d, (void)a, (void)e, (void)b, (void)how;
	errno = EPERM;
	return -1;
}
static int plain_open(const char *path, int flags, int mode)
{
	if ((flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return REAL(int, openat, (int, const char *, int, ...))(AT_FDCWD, path, flags, mode);
}
#define OPEN(name)                                      \
	int name(const char *path, int flags, ...)      \
	{                                               \
		va_list ap;                             \
		va_start(ap, flags);                    \
		int mode = va_arg(ap, int);             \
		va_end(ap);                             \
		return plain_open(path, flags, mode);   \
	}
OPEN(open)
OPEN(open64)
END
gcc -shared -fPIC -o plain.so plain.c -ldl || exit 1
plain() {
	env LD_PRELOAD="$dir/plain.so" "$@"
}
bad=0
mkdir plain
cp -p a.db perf.data plain
cd plain || exit 1
plain "$B" ingest -q --no-symbols -o new.db perf.data >../out 2>../err && cmp -s new.db a.db || bad=1
plain "$B" ingest -q --no-symbols -o new.db perf.data >../out 2>../err && bad=1
grep -q 'new.db: exists; use -f' ../err && cmp -s new.db a.db || bad=1
plain "$B" ingest -q -f --no-symbols -o new.db perf.data >../out 2>../err && cmp -s new.db a.db || bad=1
for form in folded json parquet ctf
do
	plain "$B" export --format $form -o o.$form a.db >../out 2>../err && diff -r ../whole.$form o.$form >../out 2>../err || bad=1
done
mkdir there.ctf
echo precious >there.ctf/x
plain "$B" export --format ctf -o there.ctf a.db >../out 2>../err && bad=1
plain "$B" bundle -o o.tar.gz a.db >../out 2>../err && gzip -t o.tar.gz || bad=1
[ "$(cat there.ctf/x)" = precious ] && [ -z "$(find . -name '*.tmp*' -o -name '.*tmp*')" ] || bad=1
cd .. || exit 1
say a_plain_filesystem_is_enough
