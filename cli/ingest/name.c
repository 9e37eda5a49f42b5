/* name.c - names the images of a database, one after the other. */
#include "cli/ingest/name.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "analyze/callsites/callsites.h"
#include "stitch/text/safe_text.h"
#include "cli/output/say.h"
#include "cli/process/signals.h"
#include "formats/unpack.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "schema/write/write.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/tasks/frame.h"
#include "symbolize/files/identity.h"
#include "symbolize/pool.h"
#include "symbolize/symbolize.h"
#include "symbolize/names/section_hashes.h"
#include "symbolize/files/fetch.h"

/* more threads would only wait for the database and the disk */
#define JOBS_MAX 8

struct sink {
	struct maker *mk;
	uint32_t image;
	struct name_counts *counts;
};

static int naming_put_symbol(void *arg, const struct symbol *sym,
			     struct err *err)
{
	struct sink *s = arg;

	if (!sym->depth && sym->name)
		s->counts->found++;
	return store_symbol(s->mk, s->image, sym, err);
}

static void naming_report(const char *what)
{
	char note[2048];

	safe_text_clean_buf(note, sizeof(note), what, strlen(what), NULL);
	progress_clear();
	say_note("%s\n", note);
}

/* Prints a note, and stores it in the database. */
static int naming_put_note(struct maker *mk, const char *what, struct err *err)
{
	naming_report(what);
	return store_note(mk, "names", what, err);
}

/* Writes that a file has changed. Names that were read from its other version
 * stay, because it is not known which are right. */
static void changed(const char *file, const char *section, char note[512])
{
	snprintf(note, 512,
		 "%.240s: %.40s is not what it was when %s, with the same "
		 "build-id",
		 file, section,
		 strcmp(section, ".text") ? "names were read from it"
					  : "its calls were looked at");
}

void name_tell_changed(const char *file, const char *section)
{
	char note[512];

	changed(file, section, note);
	naming_report(note);
}

/* Threads of the pool read files ahead of the image whose names are stored
 * next. `fed` counts the images passed to them. */
struct namers {
	struct symbolizer *sy;
	struct pool *pool; /* NULL: none */
	size_t fed;
	const struct symbolize_opts *opts;
	const struct name_ask *ask;
	struct symbolizer *files; /* for naming_tell_apart(); NULL: not yet */
};

/* Passes images to the pool while it has room. Returns 0, or -1 and *err. */
static int naming_feed_pool(struct namers *nr, struct maker *mk,
			    struct err *err)
{
	const struct code_place *code;
	struct image img;
	size_t n;
	int ret = 1;

	while (nr->pool && pool_has_room(nr->pool) &&
	       (ret = store_unnamed_at(mk, nr->fed, &img, &code, &n, err)) >
		       0) {
		if (pool_takes(&img))
			pool_add(nr->pool, &img, code, n);
		nr->fed++;
	}
	return ret < 0 ? -1 : 0;
}

/* Finds the source files of functions that share a name, if lines are not
 * looked for: report distinguishes them by file. Returns 0, or -1 and *err. */
static int naming_tell_apart(struct namers *nr, struct sink *s,
			     const struct image *img, struct err *err)
{
	struct name_counts counts = { 0 };
	struct sink files = { s->mk, s->image, &counts };
	struct symbolize_opts o = *nr->opts;
	struct image_report rep RELEASED_BY(report_release) = { 0 };
	const struct code_place *code;
	size_t n;

	if (store_shared_names(s->mk, &code, &n, err))
		return -1;
	if (!n || nr->ask->no_lines)
		return 0;
	/* what earlier symbolizers left has no lines */
	o.kept = NULL;
	o.no_inline = false;
	if (!nr->files)
		nr->files = symbolize_new(&o);
	return symbolize_image(nr->files, img, code, n, naming_put_symbol,
			       &files, &rep, err);
}

/* Names an image, and stores what its files were. Returns 0, or -1 and *err. */
static int name_one(struct namers *nr, struct sink *s, const struct image *img,
		    const struct code_place *code, size_t n, struct err *err)
{
	struct image_report rep RELEASED_BY(report_release) = { 0 };
	uint64_t before = s->counts->found;
	int ret;

	if (naming_feed_pool(nr, s->mk, err))
		return -1;
	ret = nr->pool && pool_takes(img)
		      ? pool_next(nr->pool, naming_put_symbol, s, &rep, err)
		      : symbolize_image(nr->sy, img, code, n, naming_put_symbol,
					s, &rep, err);
	if (!ret)
		ret = naming_tell_apart(nr, s, img, err);
	if (!ret)
		ret = store_image(s->mk, s->image,
				  rep.file[0] ? rep.file : NULL,
				  image_status_word(rep.status),
				  rep.identity	   ? rep.identity
				  : rep.refused[0] ? rep.refused
						   : NULL,
				  rep.seg, rep.n_seg, err);
	if (!ret)
		ret = store_sections(s->mk, s->image, rep.used, rep.n_used,
				     err);
	if (!ret && rep.note[0])
		ret = naming_put_note(s->mk, rep.note, err);
	if (!ret && rep.missing[0])
		ret = store_note(s->mk, "debuginfod", rep.missing, err);
	s->counts->fetched += rep.fetched;
	s->counts->missing += rep.missing[0] != '\0';
	s->counts->images++;
	s->counts->named += s->counts->found > before;
	s->counts->offsets += n;
	return ret;
}

/* Checks that what an option names, unless it is NULL, is there. */
static int name_check_path(const char *opt, const char *path, bool folder,
			   struct err *err)
{
	struct stat st;

	if (!path)
		return 0;
	if (stat(path, &st) || access(path, R_OK))
		return err_set(err, ERR_IO, "--%s %s: %s", opt, path,
			       strerror(errno));
	if (S_ISDIR(st.st_mode) != folder)
		return err_set(err, ERR_IO, "--%s %s: needs a %s", opt, path,
			       folder ? "folder" : "file");
	return 0;
}

int name_check(const struct name_ask *a, struct err *err)
{
	if (name_check_path("symfs", a->symfs, true, err) ||
	    name_check_path("kallsyms", a->kallsyms, false, err) ||
	    name_check_path("vmlinux", a->vmlinux, false, err))
		return -1;
	for (size_t i = 0; a->debug_dirs && a->debug_dirs[i]; i++)
		if (name_check_path("debug-dir", a->debug_dirs[i], true, err))
			return -1;
	if (a->jobs > 1024)
		return err_set(err, ERR_USAGE,
			       "--jobs %ld: at most 1024 files at a time",
			       a->jobs);
	if (!a->debuginfod)
		return 0;

	const char *urls = getenv("DEBUGINFOD_URLS");

	if (!fetch_available())
		return err_set(err, ERR_USAGE,
			       "--debuginfod: libdebuginfod is not here");
	if (!urls || !*urls)
		return err_set(err, ERR_USAGE,
			       "--debuginfod: DEBUGINFOD_URLS names no server");
	if (a->fetch_seconds < 1)
		return err_set(err, ERR_USAGE,
			       "--debuginfod-timeout %ld: needs at least 1",
			       a->fetch_seconds);
	return 0;
}

/* Stores when the captures were written, if that is known. */
static void naming_recorded_when(struct store *db, struct symbolize_opts *o)
{
	struct rows *r = rows_of(db, "capture_written", NULL);

	if (rows_step(r)) {
		o->recorded_before = rows_int(r, CAPTURE_WRITTEN_BEFORE);
		if (rows_int(r, CAPTURE_WRITTEN_KNOWN)) {
			o->recorded_from = rows_int(r, CAPTURE_WRITTEN_SINCE);
			o->recorded_to = rows_int(r, CAPTURE_WRITTEN_UNTIL);
			o->recorded_first =
				(uint64_t)rows_int(r, CAPTURE_WRITTEN_FIRST);
			o->recorded_slack = rows_int(r, CAPTURE_WRITTEN_SLACK);
		}
	}
	rows_close(r);
}

/* Stores the kernel version of all captures; "" if not known, or several. */
static void kernel_release(struct store *db, char *buf, size_t size)
{
	struct rows *r = rows_of(db, "capture_machines", NULL);
	size_t n = 0;

	buf[0] = '\0';
	for (; rows_step(r); n++) {
		const char *release = rows_text(r, CAPTURE_MACHINES_RELEASE);

		/* the release becomes part of a path */
		if ((n && strcmp(buf, release) != 0) || strchr(release, '/') ||
		    *release == '.') {
			buf[0] = '\0';
			break;
		}
		snprintf(buf, size, "%s", release);
	}
	rows_close(r);
}

/* Stores the folder in which perf record --kcore copied the kernel's code, of
 * the only capture; "": there may be none. */
static void capture_kcore(struct store *db, char *buf, size_t size)
{
	struct rows *r = rows_of(db, "report_captures", NULL);

	buf[0] = '\0';
	if (rows_step(r))
		snprintf(buf, size, "%s/kcore_dir",
			 rows_text(r, REPORT_CAPTURES_PATH));
	if (rows_step(r))
		buf[0] = '\0';
	rows_close(r);
}

/* Stores the folder for the cache of names. Returns false if there is none. */
static bool cache_folder(const struct name_ask *a, const char *home, char *buf,
			 size_t size)
{
	const char *xdg = getenv("XDG_CACHE_HOME");
	int n = -1;

	if (a->no_cache)
		return false;
	if (xdg && *xdg == '/')
		n = snprintf(buf, size, "%s/backstitch", xdg);
	else if (home && *home == '/')
		n = snprintf(buf, size, "%s/.cache/backstitch", home);
	return n > 0 && (size_t)n < size;
}

/* Stores the cache folder of libdebuginfod, as debuginfod_find(3) says. */
static bool fetched_folder(const char *home, char *buf, size_t size)
{
	const char *path = getenv("DEBUGINFOD_CACHE_PATH");
	const char *xdg = getenv("XDG_CACHE_HOME");
	int n = -1;

	if (path && *path)
		n = snprintf(buf, size, "%s", path);
	else if (xdg && *xdg)
		n = snprintf(buf, size, "%s/debuginfod_client", xdg);
	else if (home && *home == '/')
		n = snprintf(buf, size, "%s/.cache/debuginfod_client", home);
	return n > 0 && (size_t)n < size;
}

/* Options of a symbolizer, and the texts that they point to. */
struct setup {
	struct symbolize_opts o;
	char cache[4096], fetched[4096], release[128], kcore[4096];
};

/* Fills *s. lines: with source lines, which names do not need. */
static void make_setup(struct setup *s, const struct name_ask *a,
		       struct store *db, bool fetch,
		       const struct symbolize_text *captured,
		       struct symbolizer_cache *kept, bool lines)
{
	const char *home = getenv("HOME");

	kernel_release(db, s->release, sizeof(s->release));
	s->o = (struct symbolize_opts){ .symfs = a->symfs,
					.kallsyms = a->kallsyms,
					.vmlinux = a->vmlinux,
					.debug_dirs = a->debug_dirs,
					.no_demangle = a->no_demangle,
					.no_inline = a->no_lines || !lines };
	if (fetched_folder(home, s->fetched, sizeof(s->fetched)))
		s->o.fetch_cache = s->fetched;
	if (fetch && a->debuginfod)
		s->o.fetch_seconds = (double)a->fetch_seconds;
	s->o.stop = stop_requested;
	if (*s->release)
		s->o.release = s->release;
	s->o.unpack = unpack_all;
	if (cache_folder(a, home, s->cache, sizeof(s->cache)))
		s->o.cache = s->cache;
	if (home && *home == '/')
		s->o.home = home;
	s->o.captured = captured;
	capture_kcore(db, s->kcore, sizeof(s->kcore));
	s->o.kcore = *s->kcore ? s->kcore : NULL;
	s->o.kept = kept;
	/* Store whether all captures were made on this machine with the running
	 * kernel, whether any was made on a machine with another name, and
	 * whether any may have build-ids that the program read from a path. */
	struct rows *r = rows_of(db, "capture_machines", NULL);
	struct utsname here;
	size_t n = 0;

	s->o.same_machine = true;
	for (; rows_step(r); n++) {
		const char *host = rows_text(r, CAPTURE_MACHINES_HOST);

		s->o.same_machine &= identity_recorded_here(
			host, rows_text(r, CAPTURE_MACHINES_RELEASE));
		s->o.other_machine |= host && *host && !uname(&here) &&
				      strcmp(host, here.nodename) != 0;
		s->o.ids_read |= rows_int(r, CAPTURE_MACHINES_CTF) != 0;
	}
	rows_close(r);
	s->o.same_machine &= n > 0;
	naming_recorded_when(db, &s->o);
}

struct symbolizer *name_symbolizer(const struct name_ask *a, struct store *db,
				   const struct symbolize_text *captured,
				   struct symbolizer_cache *kept)
{
	struct setup s;

	make_setup(&s, a, db, false, captured, kept, true);
	return symbolize_new(&s.o);
}

const char *name_not_given(const struct name_ask *a, char buf[NAME_NOT_GIVEN])
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	const struct {
		bool given;
		const char *opt;
	} of[] = {
		{ a->symfs != NULL, "--symfs DIR" },
		{ a->kallsyms || a->vmlinux, "--kallsyms FILE" },
		{ a->debug_dirs && *a->debug_dirs, "--debug-dir DIR" },
		{ a->debuginfod || !urls || !*urls, "--debuginfod" },
	};
	const char *sep = "";
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
		if (of[i].given)
			continue;
		at += (size_t)snprintf(buf + at, NAME_NOT_GIVEN - at, "%s%s",
				       sep, of[i].opt);
		sep = ", ";
	}
	return buf;
}

unsigned int name_jobs(const struct name_ask *a)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (a->jobs)
		return (unsigned int)a->jobs;
	return cpus > JOBS_MAX ? JOBS_MAX : cpus > 0 ? (unsigned int)cpus : 1;
}

/* Stores a note if modules share a build-id. Returns 0, or -1 and *err. */
static int naming_note_shared_modules(struct maker *mk, struct err *err)
{
	struct rows *r = rows_of(maker_read(mk, err), "shared_modules", err);
	int64_t n = 0;
	char note[256];

	if (!r)
		return -1;
	if (rows_step(r))
		n = rows_int(r, SHARED_MODULES_N);
	rows_close(r);
	if (!n)
		return 0;
	snprintf(note, sizeof(note),
		 "%" PRId64
		 " modules have the same build-id as another one, as "
		 "perf before 7.0 stored it: their names are unverified",
		 n);
	return naming_put_note(mk, note, err);
}

/* Names all images; again: also code without lines. Returns 0, or -1. */
static int naming_name_all(const struct name_ask *a, struct maker *mk,
			   const struct symbolize_text *captured,
			   struct symbolizer_cache *kept, bool lines,
			   bool again, struct name_counts *counts,
			   struct err *err)
{
	struct name_counts unused = { 0 };
	struct sink s = { .mk = mk, .counts = counts ? counts : &unused };
	struct setup setup;
	struct namers nr;
	unsigned int how = (again ? NAME_LINES : 0) |
			   (a->debuginfod ? NAME_HOT_FIRST : 0) |
			   (a->vmlinux || a->kallsyms ? NAME_KERNEL : 0);
	const struct code_place *code;
	struct image img;
	size_t n;
	int ret;

	/* a server may have only a debug file */
	make_setup(&setup, a, maker_read(mk, err), true, captured, kept,
		   lines || a->debuginfod);
	nr = (struct namers){ .sy = symbolize_new(&setup.o),
			      .opts = &setup.o,
			      .ask = a };
	/* with debuginfod one thread, as servers are asked for one file after
	 * the other, those in most stacks first */
	nr.pool = pool_new(&setup.o, a->debuginfod ? 1 : name_jobs(a));
	progress_start("naming");
	while ((ret = store_unnamed(mk, how, &s.image, &img, &code, &n, err)) >
	       0) {
		if (stop_requested())
			ret = err_set(err, ERR_STOPPED, "stopped");
		else
			ret = name_one(&nr, &s, &img, code, n, err);
		if (ret)
			break;
		progress_update(0, 0, s.counts->offsets, "addresses");
	}
	progress_clear();
	pool_free(nr.pool);
	symbolize_free(nr.sy);
	symbolize_free(nr.files);
	if (!ret)
		ret = naming_note_shared_modules(mk, err);
	if (a->debuginfod && !ret)
		say("debuginfod: fetched %" PRIu64 " file%s, had none for "
		    "%" PRIu64 " image%s\n",
		    s.counts->fetched, s.counts->fetched == 1 ? "" : "s",
		    s.counts->missing, s.counts->missing == 1 ? "" : "s");
	return ret;
}

int name_images(const struct name_ask *a, struct maker *mk,
		const struct symbolize_text *captured,
		struct symbolizer_cache *kept, bool lines, struct err *err)
{
	return naming_name_all(a, mk, captured, kept, lines, false, NULL, err);
}

int name_again(const struct name_ask *a, struct maker *mk,
	       struct name_counts *counts, struct err *err)
{
	struct rows *r = rows_of(maker_read(mk, err), "image_sections", err);
	char last[256] = ""; /* report each file once */

	while (rows_step(r)) {
		const char *file = rows_text(r, IMAGE_SECTIONS_FILE);
		const char *name = rows_text(r, IMAGE_SECTIONS_NAME);
		struct image img = { .kind = IMAGE_FILE };
		char note[512];
		uint64_t hash;

		rows_build_id(r, IMAGE_SECTIONS_BUILD_ID, &img);
		if (!strncmp(last, file, sizeof(last) - 1) ||
		    !section_hashes_of_file(file, name, &img, &hash) ||
		    hash == (uint64_t)rows_int(r, IMAGE_SECTIONS_HASH))
			continue;
		snprintf(last, sizeof(last), "%s", file);
		changed(file, name, note);
		/* the rows go on after the note is written */
		if (naming_put_note(mk, note, err) || !maker_read(mk, err))
			return rows_stop(r);
	}
	if (rows_end(r, err))
		return -1;
	return naming_name_all(a, mk, NULL, NULL, true, !a->no_lines, counts,
			       err);
}

static bool naming_seen_calls(uint64_t n)
{
	progress_update(0, 0, n, "return addresses");
	return !stop_requested();
}

int name_check_calls(struct maker *mk, const struct frames *fr,
		     struct symbolizer *sy, struct err *err)
{
	progress_start("checking");

	int rc = callsites_check(mk, fr, sy, naming_seen_calls, err);

	progress_clear();
	return rc;
}
