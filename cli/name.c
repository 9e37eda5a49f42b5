/* name.c - the naming loop: next unnamed image, name, store. */
#include "cli/name.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/progress.h"
#include "cli/stop.h"
#include "schema/store.h"
#include "stitch/err.h"
#include "stitch/frame.h"
#include "stitch/symbol.h"
#include "symbolize/symbolize.h"

static const char *symfs, *kallsyms, *vmlinux;
static bool no_demangle, no_inline, no_cache;
static struct opt_list debug_dirs;

const struct opt name_place_opts[] = {
	{ .kind = OPT_STRING,
	  .name = "symfs",
	  .arg = "DIR",
	  .help = "look for the recorded programs below DIR",
	  .value = &symfs },
	{ .kind = OPT_END }
};

const struct opt name_opts[] = {
	{ .kind = OPT_GROUP, .value = (void *)name_place_opts },
	{ .kind = OPT_STRING,
	  .name = "kallsyms",
	  .arg = "FILE",
	  .help = "names of the kernel, from a copy of /proc/kallsyms",
	  .value = &kallsyms },
	{ .kind = OPT_STRING,
	  .name = "vmlinux",
	  .arg = "FILE",
	  .help = "names of the kernel, from its ELF file",
	  .value = &vmlinux },
	{ .kind = OPT_LIST,
	  .name = "debug-dir",
	  .arg = "DIR",
	  .help = "one more folder of debug files, as /usr/lib/debug; may be "
		  "given several times",
	  .value = &debug_dirs },
	{ .kind = OPT_FLAG,
	  .name = "no-demangle",
	  .help = "keep C++, Rust and D names as they are in the file",
	  .value = &no_demangle },
	{ .kind = OPT_FLAG,
	  .name = "no-lines",
	  .help = "do not look for source lines and inlined functions",
	  .value = &no_inline },
	{ .kind = OPT_FLAG,
	  .name = "no-cache",
	  .help = "do not remember names on disk for the next time",
	  .value = &no_cache },
	{ .kind = OPT_END }
};

const char *name_kallsyms(void)
{
	return kallsyms;
}

struct sink {
	struct store *db;
	uint32_t image;
	struct name_counts *counts;
};

static int put_symbol(void *arg, const struct symbol *sym, struct err *err)
{
	struct sink *s = arg;

	if (!sym->depth && sym->name)
		s->counts->found++;
	s->counts->lines += !sym->depth && sym->line;
	return store_symbol(s->db, s->image, sym, err);
}

static int name_one(struct symbolizer *sy, struct sink *s,
		    const struct image *img, const struct code_place *code,
		    size_t n, struct err *err)
{
	struct image_report rep = { 0 };
	uint64_t before = s->counts->found;
	int ret;

	ret = symbolize_image(sy, img, code, n, put_symbol, s, &rep, err);
	if (!ret)
		ret = store_image(s->db, s->image,
				  rep.file[0] ? rep.file : NULL, rep.status,
				  rep.seg, rep.n_seg, err);
	if (rep.note[0]) {
		char note[4 * sizeof(rep.note)];

		output_clean_buf(note, sizeof(note), rep.note, strlen(rep.note),
				 NULL);
		progress_clear();
		fprintf(stderr, "%s\n", note);
	}
	symbolize_report_release(&rep);
	s->counts->images++;
	s->counts->named += s->counts->found > before;
	s->counts->offsets += n;
	return ret;
}

int name_check(struct err *err)
{
	const struct {
		const char *opt, *path;
		bool folder;
	} given[] = { { "symfs", symfs, true },
		      { "kallsyms", kallsyms, false },
		      { "vmlinux", vmlinux, false } };

	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
		const char *path = given[i].path;
		struct stat st;

		if (!path)
			continue;
		if (stat(path, &st) || access(path, R_OK))
			return err_set(err, ERR_IO, "--%s %s: %s", given[i].opt,
				       path, strerror(errno));
		if (S_ISDIR(st.st_mode) != given[i].folder)
			return err_set(err, ERR_IO, "--%s %s: needs a %s",
				       given[i].opt, path,
				       given[i].folder ? "folder" : "file");
	}
	return 0;
}

/* Ends with NULL, as the symbolizer wants it. */
static const char *const *debug_list(void)
{
	size_t last = sizeof(debug_dirs.item) / sizeof(debug_dirs.item[0]) - 1;

	debug_dirs.item[debug_dirs.n < last ? debug_dirs.n : last] = NULL;
	return debug_dirs.item;
}

/* Were all captures made on this machine, with the kernel of this version? */
static bool recorded_here(struct store *db)
{
	struct rows *r =
		rows_open(db, store_sql("capture_machines"), NULL, 0, NULL);
	struct utsname here;
	bool same = true;
	size_t n = 0;

	if (uname(&here))
		same = false;
	for (; r && rows_next(r, NULL) > 0; n++)
		same = same && !strcmp(rows_text(r, 0), here.nodename) &&
		       !strcmp(rows_text(r, 1), here.release);
	rows_close(r);
	return same && n;
}

/* Where programs keep what they can make again; false: nowhere. */
static bool cache_folder(const char *home, char *buf, size_t size)
{
	const char *xdg = getenv("XDG_CACHE_HOME");
	int n = -1;

	if (no_cache)
		return false;
	if (xdg && *xdg == '/')
		n = snprintf(buf, size, "%s/backstitch", xdg);
	else if (home && *home == '/')
		n = snprintf(buf, size, "%s/.cache/backstitch", home);
	return n > 0 && (size_t)n < size;
}

struct symbolizer *name_symbolizer(struct store *db,
				   const struct symbolize_text *captured)
{
	const char *home = getenv("HOME");
	char cache[4096];
	struct symbolize_opts o = {
		.cache =
			cache_folder(home, cache, sizeof(cache)) ? cache : NULL,
		.symfs = symfs,
		.kallsyms = kallsyms,
		.vmlinux = vmlinux,
		.home = home && *home == '/' ? home : NULL,
		.debug_dirs = debug_list(),
		.captured = captured,
		.no_demangle = no_demangle,
		.no_inline = no_inline,
		.same_machine = recorded_here(db),
	};

	return symbolize_new(&o);
}

const char *name_symfs(void)
{
	return symfs;
}

bool name_has_places(void)
{
	return symfs || debug_dirs.n;
}

int name_images(struct store *db, const struct symbolize_text *captured,
		struct name_counts *counts, struct err *err)
{
	struct name_counts unused = { 0 };
	struct sink s = { .db = db, .counts = counts ? counts : &unused };
	struct symbolizer *sy = name_symbolizer(db, captured);
	const struct code_place *code;
	struct image img;
	size_t n;
	int ret;

	progress_start("naming");
	while ((ret = store_unnamed(db, &s.image, &img, &code, &n, err)) > 0) {
		if (stop_requested())
			ret = err_set(err, ERR_STOPPED, "stopped");
		else
			ret = name_one(sy, &s, &img, code, n, err);
		if (ret)
			break;
		progress_update(0, 0, s.counts->offsets, "addresses");
	}
	progress_clear();
	symbolize_free(sy);
	return ret;
}
