/* pack.c - packs a database for someone else: with the files that hold its
 * symbols, or redacted. */
#include "cli/export/pack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ingest/name.h"
#include "cli/output/human.h"
#include "cli/stop.h"
#include "formats/bundle.h"
#include "schema/columns.h"
#include "schema/read/redact.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/path.h"
#include "stitch/base/table.h"
#include "stitch/tasks/frame.h"
#include "symbolize/disasm/code_bytes.h"
#include "symbolize/symbolize.h"

#define NAME_SIZE 8192

/* The archive being made. */
struct pack {
	const struct pack_opts *o;
	struct store *db;
	struct symbolizer *sy;
	struct bundle *b;
	char name[256];	     /* name of the database in the archive */
	char *copy;	     /* a copy of the database */
	struct image *image; /* images, by id */
	size_t n_image, cap_image;
	char **program;	    /* by image id: the file with its code, or NULL */
	struct table index; /* index of the names in the archive */
	char **put;
	size_t n_put, cap_put;
	struct arena text;
	uint64_t files, bytes, missing;
	char example[256]; /* one of the missing files */
};

/* ---- names */

/* "dir/run.db" -> "run" */
static void pack_stem(const char *path, char *out, size_t size)
{
	const char *base = path_base(path);
	const char *dot = strrchr(base, '.');
	size_t n = dot && dot != base ? (size_t)(dot - base) : strlen(base);

	if (!n || !strcmp(path, "-")) {
		base = "capture";
		n = strlen(base);
	}
	snprintf(out, size, "%.*s", (int)(n < 200 ? n : 200), base);
}

/* Returns the path without the folder of --symfs. */
static const char *pack_without_symfs(const char *path)
{
	const char *symfs = name_symfs();
	size_t n = symfs ? strlen(symfs) : 0;

	while (n && symfs[n - 1] == '/')
		n--;
	return n && !strncmp(path, symfs, n) && path[n] == '/' ? path + n
							       : path;
}

/* Gives the path where --symfs finds a debug file by build-id. Returns false if
 * the image has no build-id. */
static bool pack_debug_name(const struct image *img, char *out, size_t size)
{
	size_t n;

	if (img->id_len < 2)
		return false;
	n = (size_t)snprintf(out, size, "symfs/usr/lib/debug/.build-id/%02x/",
			     img->id[0]);
	for (size_t i = 1; i < img->id_len; i++)
		n += (size_t)snprintf(out + n, size - n, "%02x", img->id[i]);
	snprintf(out + n, size - n, ".debug");
	return true;
}

static bool pack_same_name(const void *owner, uint32_t id, const void *key)
{
	return !strcmp(((const struct pack *)owner)->put[id], key);
}

/* Returns whether a path from a capture stays inside the archive's folder. */
static bool pack_is_safe(const char *name)
{
	size_t n = strlen(name);

	return !strstr(name, "/../") &&
	       (n < 3 || strcmp(name + n - 3, "/..") != 0);
}

static int pack_put_file(struct pack *p, const char *name, const char *path,
			 struct err *err)
{
	uint64_t hash = hash_bytes(name, strlen(name), 0);

	if (!pack_is_safe(name) ||
	    table_find(&p->index, hash, pack_same_name, p, name) != TABLE_NONE)
		return 0;
	table_add(&p->index, hash, (uint32_t)p->n_put);
	*mem_add(p->put, p->n_put, p->cap_put) = arena_strdup(&p->text, name);
	p->files++;
	return bundle_add_file(p->b, name, path, &p->bytes, err);
}

/* ---- files */

static int pack_take_image(void *arg, const struct rows *r, struct err *err)
{
	struct pack *p = arg;
	size_t id = (size_t)rows_int(r, BUNDLE_IMAGES_ID);
	struct image img = { 0 };
	char name[NAME_SIZE];
	const char *path;
	struct code_bytes *c;
	int rc = 0;

	if (stop_requested())
		return err_set(err, ERR_STOPPED, "stopped");
	if (id >= 1 << 28)
		return err_set(err, ERR_DB, "the database is damaged: image");
	rows_image(r, BUNDLE_IMAGES_KIND, &p->text, &img);
	p->image = mem_reach(p->image, &p->n_image, &p->cap_image, id + 1,
			     sizeof(*p->image));
	p->image[id] = img;
	c = code_bytes_open(p->sy, &img, err);
	path = c ? code_bytes_path(c) : "";
	if (*path && img.kind == IMAGE_KERNEL)
		rc = pack_put_file(p, "symfs/vmlinux", path, err);
	else if (*path && img.kind == IMAGE_FILE) {
		snprintf(name, sizeof(name), "symfs%s", img.path);
		rc = pack_put_file(p, name, path, err);
	} else if (img.kind == IMAGE_FILE && !p->missing++) {
		snprintf(p->example, sizeof(p->example), "%s", img.path);
	}
	code_bytes_close(c);
	return rc;
}

static int pack_take_section(void *arg, const struct rows *r, struct err *err)
{
	struct pack *p = arg;
	size_t id = (size_t)rows_int(r, BUNDLE_SECTIONS_IMAGE);
	const char *path = rows_text(r, BUNDLE_SECTIONS_FILE);
	const char *plain = pack_without_symfs(path);
	char name[NAME_SIZE];
	bool debug = strstr(plain, "debug") != NULL;

	if (id >= p->n_image || !p->image[id].path || *path != '/' || !debug ||
	    access(path, R_OK))
		return 0;
	if (strstr(plain, "/.dwz/") ||
	    !pack_debug_name(&p->image[id], name, 256))
		snprintf(name, sizeof(name), "symfs%s", plain);
	return pack_put_file(p, name, path, err);
}

static int pack_put_readme(struct pack *p, struct err *err)
{
	char text[2048];

	snprintf(text, sizeof(text),
		 "%s.db is a database of backstitch: stacks of a recording, "
		 "with their names.\n\n"
		 "  backstitch info %s.db        what is in it\n"
		 "  backstitch report %s.db      what took the time\n"
		 "  backstitch flame -o a.svg %s.db\n\n"
		 "Below symfs are the programs that ran, for the commands that "
		 "look at code:\n\n"
		 "  backstitch annotate --symfs symfs %s.db FUNCTION\n",
		 p->name, p->name, p->name, p->name, p->name);
	return bundle_add_text(p->b, "README", text, err);
}

static int pack_fill(struct pack *p, struct err *err)
{
	char name[300];

	snprintf(name, sizeof(name), "%s.db", p->name);
	if (pack_put_readme(p, err) || pack_put_file(p, name, p->copy, err))
		return -1;
	p->files--; /* do not count the database */
	if (p->o->redact)
		return 0;
	if (rows_each(p->db, "bundle_images", pack_take_image, p, err))
		return -1;
	return p->o->no_debug ? 0
			      : rows_each(p->db, "bundle_sections",
					  pack_take_section, p, err);
}

static int pack_make_archive(struct pack *p, const char *out, struct err *err)
{
	int rc = -1;

	p->b = bundle_create(out, p->o->force, err);
	if (!p->b)
		return -1;
	p->sy = name_symbolizer(p->db, NULL);
	if (!pack_fill(p, err))
		rc = bundle_finish(p->b, err);
	bundle_free(p->b);
	symbolize_free(p->sy);
	return rc;
}

/* ---- the database */

static int pack_make_copy(struct pack *p, const char *out, struct err *err)
{
	size_t n = strlen(out) + 32;
	char *copy = mem_new(n, 1);
	const struct redact_opts o = { p->o->keep->item, p->o->keep->n };
	struct redact_counts counts;

	snprintf(copy, n, "%s.%ld.tmp", out, (long)getpid());
	p->copy = copy;
	if (store_copy(p->db, copy, err))
		return -1;
	if (!p->o->redact)
		return 0;
	if (store_redact(copy, &o, &counts, err))
		return -1;
	fprintf(stderr,
		"backstitch: %" PRIu64 " words replaced in %" PRIu64
		" places; names of events, their numbers, and the kernel's "
		"names stay\n",
		counts.words, counts.values);
	return 0;
}

/* Refuses to replace anything but a regular file, such as a device or a
 * link. */
static int pack_check_target(const char *out, bool force, struct err *err)
{
	struct stat st;

	if (lstat(out, &st))
		return 0;
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_IO,
			       "%s: is no regular file; a bundle needs one",
			       out);
	if (!force)
		return err_set(err, ERR_IO, "%s: exists; use -f to replace it",
			       out);
	return 0;
}

static int pack_make(struct pack *p, const char *out, struct err *err)
{
	bool archive = bundle_is_name(out);
	char size[32];

	if (pack_check_target(out, p->o->force, err) ||
	    pack_make_copy(p, out, err))
		return -1;
	if (!archive && rename(p->copy, out))
		return err_set(err, ERR_IO, "%s: %s", out, strerror(errno));
	if (!archive)
		return 0;
	if (pack_make_archive(p, out, err))
		return -1;
	human_bytes(size, sizeof(size), p->bytes);
	fprintf(stderr,
		"%s: %s.db and %" PRIu64 " file%s of code, %s before packing\n",
		out, p->name, p->files, p->files == 1 ? "" : "s", size);
	if (p->missing)
		fprintf(stderr,
			"backstitch: %" PRIu64 " image%s not here, such as "
			"'%s'; --symfs DIR says where\n",
			p->missing, p->missing == 1 ? " is" : "s are",
			p->example);
	return 0;
}

static void pack_release(struct pack *p)
{
	if (p->copy)
		unlink(p->copy);
	free(p->copy);
	free(p->image);
	free(p->put);
	table_release(&p->index);
	arena_release(&p->text);
}

int pack_write(struct store *db, const char *path, const struct pack_opts *o,
	       struct err *err)
{
	struct pack p = { .o = o, .db = db };
	char out[300];
	int rc;

	pack_stem(path, p.name, sizeof(p.name));
	snprintf(out, sizeof(out), o->redact ? "%s.redacted.db" : "%s.tar.gz",
		 p.name);
	rc = pack_make(&p, o->out ? o->out : out, err);
	pack_release(&p);
	return rc;
}
